import type { SentMail } from './mail.ts';
import { fromQuotedPrintable, toQuotedPrintable } from './quoted-printable.ts';

const CRLF = '\r\n';
/**
 * Encoded-words have up to 75 characters, 12 of them overhead (RFC 2047, section 2): 45 bytes are 60 in
 * base64.
 */
const WORD_BYTES = 45;

/**
 * A message for mail clients (RFC 5322) with text and HTML as alternatives (RFC 2046, section 5.1.4). It
 * includes Bcc: this is the sender's copy.
 */
export function toMime({ id, at, from, to, cc, bcc, replyTo, subject, text, html }: SentMail): string {
  const parts = [
    { type: 'plain', body: text },
    { type: 'html', body: html },
  ].filter(({ body }) => body !== '');
  // Begins with "=_", as no quoted-printable line can (RFC 2045, section 6.7).
  const boundary = `=_${id}`;
  const headers = [
    `Date: ${at.toUTCString().replace('GMT', '+0000')}`,
    `From: ${from}`,
    ...addresses('To', to),
    ...addresses('Cc', cc),
    ...addresses('Bcc', bcc),
    ...addresses('Reply-To', replyTo),
    `Subject: ${toHeaderText(subject)}`,
    `Message-ID: <${id}@email.amazonses.com>`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
  ];
  const bodies = parts.map(({ type, body }) =>
    [
      `--${boundary}`,
      `Content-Type: text/${type}; charset=utf-8`,
      'Content-Transfer-Encoding: quoted-printable',
      '',
      toQuotedPrintable(body),
    ].join(CRLF),
  );
  return [...headers, '', ...bodies, `--${boundary}--`, ''].join(CRLF);
}

/**
 * Parses the output of {@link toMime}.
 * @returns undefined for anything else
 */
export function fromMime(message: string): Omit<SentMail, 'at'> | undefined {
  const [head = '', ...rest] = message.split(`${CRLF}${CRLF}`);
  const fields = parseHeaders(head);
  const boundary = /boundary="([^"]+)"/.exec(fields.get('Content-Type') ?? '')?.[1];
  const id = /<(.+)@/.exec(fields.get('Message-ID') ?? '')?.[1];
  if (boundary === undefined || id === undefined) return undefined;
  const bodies = splitParts(rest.join(`${CRLF}${CRLF}`), boundary);
  const list = (name: string) => fields.get(name)?.split(`,${CRLF} `) ?? [];
  return {
    id,
    from: fields.get('From') ?? '',
    to: list('To'),
    cc: list('Cc'),
    bcc: list('Bcc'),
    replyTo: list('Reply-To'),
    subject: fromHeaderText(fields.get('Subject') ?? ''),
    text: bodies.get('plain') ?? '',
    html: bodies.get('html') ?? '',
  };
}

const addresses = (name: string, all: readonly string[]) =>
  all.length === 0 ? [] : [`${name}: ${all.join(`,${CRLF} `)}`];

/** Values by name, still folded. */
function parseHeaders(head: string): Map<string, string> {
  return new Map(
    head.split(/\r\n(?! )/).map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
}

function splitParts(body: string, boundary: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (const part of body.split(`--${boundary}`).slice(1, -1)) {
    const [head = '', ...rest] = part.split(`${CRLF}${CRLF}`);
    const type = /Content-Type: text\/(\w+)/.exec(head)?.[1] ?? '';
    // The line end before a boundary belongs to the boundary.
    const encoded = rest.join(`${CRLF}${CRLF}`).replace(/\r\n$/, '');
    parts.set(type, fromQuotedPrintable(encoded));
  }
  return parts;
}

/** Unchanged if plain and short enough for a line, else as encoded-words (RFC 2047). */
function toHeaderText(text: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]{0,60}[\x21-\x7e])?$/.test(text) && !text.includes('=?')) return text;
  const words: string[] = [];
  let word = '';
  for (const character of text) {
    if (Buffer.byteLength(word + character) > WORD_BYTES) {
      words.push(word);
      word = '';
    }
    word += character;
  }
  return [...words, word]
    .map((part) => `=?utf-8?B?${Buffer.from(part).toString('base64')}?=`)
    .join(`${CRLF} `);
}

function fromHeaderText(encoded: string): string {
  return encoded
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?B\?([^?]*)\?=/g, (_, base64: string) => Buffer.from(base64, 'base64').toString());
}
