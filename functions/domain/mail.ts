import { FAILURES_TO_DISABLE } from './endpoint.ts';
import type { ReceiverId } from './ids.ts';
import type { Digest } from './mailing.ts';
import type { SourceKind } from './source.ts';

/** What an e-mail says. */
export interface MailText {
  subject: string;
  text: string;
  html: string;
}

/** An e-mail to all of its recipients at once. */
export interface Mail extends MailText {
  to: readonly string[];
}

/** `refused`: it certainly did not go. `unknown`: nobody can tell. */
export type MailResult = { kind: 'sent' } | { kind: 'refused' | 'unknown'; reason: string };

/** Longest subject, in UTF-16 code units: what mail programs show of one, and something over. */
export const MAX_SUBJECT = 120;
const MAX_NAME = 120;
const MAX_URL = 300;
const MAX_EXCERPT = 600;

const KINDS: Record<SourceKind, string> = { url: 'page', spreadsheet: 'spreadsheet', feed: 'feed' };

/** The content of a source is not what admins know (decisions.md, Content-change notifications). Its texts may be anybody's. */
export function contentChanged({
  organization,
  name = '',
  url,
  kind,
  difference,
  added,
  removed,
  noticeSeconds,
  dashboardOrigin,
}: {
  organization: string;
  name: string | undefined;
  url: string;
  kind: SourceKind;
  /** In percent. */
  difference: number;
  /** The beginnings of what came and of what went. */
  added: string;
  removed: string;
  noticeSeconds: number;
  dashboardOrigin: string;
}): MailText {
  const heading = `Content changed by ${Number(difference.toFixed(1))}%`;
  const called = inOneLine(name) || hostOf(url) || `a ${KINDS[kind]}`;
  const theirs = foreign(organization, MAX_NAME);
  return mail(heading, called, [
    {
      paragraph: `The content of a ${KINDS[kind]} that ${theirs} imports differs from what you were last told of, or from what was imported at first.`,
    },
    { facts: [['Source', foreign(called, MAX_NAME)], address(url)] },
    ...quotation('What was added begins with', added, 'added'),
    ...quotation('What was removed begins with', removed, 'removed'),
    { link: 'Change when you are told', href: `${dashboardOrigin}/settings/organization` },
    {
      note: `You get this e-mail because you are an admin of ${theirs}. There is at most one about a source in ${duration(noticeSeconds)}. The quoted text is what was found at the address above.`,
    },
  ]);
}

/** Changes of a day for which the budget of notices did not suffice. URLs may be anybody's. */
export function contentDigest({
  organization,
  day,
  changes,
  sources,
  others,
  dashboardOrigin,
}: Pick<Digest, 'day' | 'changes' | 'sources' | 'others'> & {
  organization: string;
  dashboardOrigin: string;
}): MailText {
  const theirs = foreign(organization, MAX_NAME);
  const lines = Object.values(sources).toSorted((a, b) => b.difference - a.difference);
  return mail('Content changes in more sources', day, [
    {
      paragraph: `On ${day} (UTC), ${numbered(changes, 'further change')} of content that ${theirs} imports exceeded the threshold. No separate e-mails were sent, because the number of e-mails per day is limited.`,
    },
    {
      facts: lines.map(({ url, kind, ...line }): [string, string] => [
        extent(line),
        `${KINDS[kind]} ${address(url)[1]}`,
      ]),
    },
    ...(others.changes === 0 ? [] : [{ paragraph: `In sources that are not listed: ${extent(others)}.` }]),
    { link: 'Change when you are told', href: `${dashboardOrigin}/settings/organization` },
    {
      note: `You get this e-mail because you are an admin of ${theirs}. There is at most one such summary per day.`,
    },
  ]);
}

/** How often something changed, and how much at most. */
const extent = ({ changes, difference }: { changes: number; difference: number }): string =>
  `${numbered(changes, 'change')}, up to ${Number(difference.toFixed(1))}%`;

const numbered = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** A webhook endpoint or a channel was disabled by its failures (decisions.md, Deliveries). */
export function endpointDisabled({
  organization,
  webhookId,
  url,
  disabledAt,
  dashboardOrigin,
}: {
  organization: string;
  webhookId: ReceiverId;
  /** Undefined when it is deleted. */
  url: string | undefined;
  disabledAt: string;
  dashboardOrigin: string;
}): MailText {
  const [what, again] = webhookId.startsWith('chn_')
    ? ['Channel', 'create the channel']
    : ['Webhook endpoint', 'register the endpoint'];
  const theirs = foreign(organization, MAX_NAME);
  return mail(`${what} disabled`, hostOf(url ?? '') || webhookId, [
    {
      paragraph: `A ${what.toLowerCase()} of ${theirs} failed to receive ${FAILURES_TO_DISABLE} deliveries in a row, each with all of its attempts, and was disabled. Nothing is sent to it any more.`,
    },
    {
      facts: [
        [what, webhookId],
        ...(url === undefined ? [] : [address(withoutQuery(url))]),
        ['Disabled at', `${disabledAt.slice(0, 16).replace('T', ' ')} UTC`],
      ],
    },
    {
      paragraph: `It stays disabled. Once its receiver works, ${again} anew, which gives it a new signing secret. The API's list of its deliveries says what each of them met.`,
    },
    { link: 'Open the dashboard', href: `${dashboardOrigin}/` },
    { note: `You get this e-mail because you are an admin of ${theirs}. It is sent once.` },
  ]);
}

function mail(heading: string, about: string, rest: readonly MailPart[]): MailText {
  const parts = [{ heading }, ...rest];
  return {
    subject: shortened(inOneLine(`${heading}: ${about}`), MAX_SUBJECT),
    text: plainText(parts),
    html: html(heading, parts),
  };
}

/** What others wrote: it makes no links. */
const foreign = (text: string, max: number): string => unlinked(shortened(inOneLine(text), max));

function quotation(title: string, text: string, tone: 'added' | 'removed'): MailPart[] {
  const lines = text
    .split(/\n/)
    .map(inOneLine)
    .filter((line) => line !== '');
  if (lines.length === 0) return [];
  const shown = shortened(lines.join('\n'), MAX_EXCERPT).split('\n');
  return [{ title, quotation: shown.map(unlinked), tone }];
}

/** As the parser writes it, it is ASCII and is what it looks like. What the parser refuses or what is too long is shown as text. */
function address(url: string): [term: string, value: string] {
  const href = URL.parse(url)?.href ?? '';
  return ['Address', href !== '' && href.length <= MAX_URL ? href : foreign(url, MAX_URL)];
}

const hostOf = (url: string): string => URL.parse(url)?.hostname ?? '';

/** The queries of receivers' addresses hold keys at times, which are not for mailboxes. */
function withoutQuery(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  parsed.search = '';
  return parsed.href;
}

function duration(seconds: number): string {
  return seconds % 3600 === 0 ? numbered(seconds / 3600, 'hour') : numbered(seconds, 'second');
}

/*
 * Text that anybody may have written, made fit to be shown among our own: it stays text, keeps to its place and looks like what it is.
 */

/**
 * Without what turns the direction of writing, hides or breaks a line. Joiners stay: languages are written with them. Where nothing that can be seen
 * stays beside them it is empty.
 */
export function inOneLine(text: string): string {
  const line = text
    .toWellFormed()
    .replaceAll(/(?![\u200c\u200d])\p{Cf}/gu, '')
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return /^[\p{Default_Ignorable_Code_Point} ]*$/u.test(line) ? '' : line;
}

/** At most so many UTF-16 code units, none of them half a character, with an ellipsis where something is left out. */
export const shortened = (text: string, max: number): string =>
  text.length <= max
    ? text
    : `${text
        .slice(0, max - 1)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd()}…`;

/** Mail programs make links of what looks like an address. A space without width keeps them from it. */
export const unlinked = (text: string): string =>
  text
    .replaceAll(/(?<=[\p{L}\p{N}_-])(?=[.\u3002\uff0e\uff61]\p{L})/gu, '\u200b')
    .replaceAll(/:(?=\/\/)/g, ':\u200b')
    .replaceAll('@', '\u200b@');

/** What an e-mail is made of, in the order of its reading. */
type MailPart =
  | { heading: string }
  | { paragraph: string }
  /** Terms and their values. */
  | { facts: readonly (readonly [term: string, value: string])[] }
  /** Lines of somebody else's text. */
  | { title: string; quotation: readonly string[]; tone: 'added' | 'removed' }
  | { link: string; href: string }
  /** What is there to be found by who looks for it. */
  | { note: string };

/** Columns of a line (RFC 3676, section 4.2). */
const COLUMNS = 72;

/** For programs that show no HTML, and people who want none. */
const plainText = (parts: readonly MailPart[]): string =>
  `${parts.map((part) => plain(part)).join('\n\n')}\n`;

function plain(part: MailPart): string {
  if ('heading' in part)
    return `${wrapped(part.heading)}\n${'='.repeat(Math.min(part.heading.length, COLUMNS))}`;
  if ('paragraph' in part) return wrapped(part.paragraph);
  if ('facts' in part) return part.facts.map(([term, value]) => wrapped(`${term}: ${value}`)).join('\n');
  if ('quotation' in part)
    return [`${part.title}:`, ...part.quotation.map((line) => wrapped(line, '> '))].join('\n');
  if ('link' in part) return `${part.link}:\n${part.href}`;
  return `-- \n${wrapped(part.note)}`;
}

/** Breaks lines at spaces. A word that is longer than a line has one of its own. */
function wrapped(text: string, prefix = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && prefix.length + line.length + 1 + word.length > COLUMNS) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => prefix + each).join('\n');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (mark) => ESCAPES[mark] ?? '');

const FONT =
  'font-family:system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5';
const TONES = { added: '#16a34a', removed: '#dc2626' } as const;
/** Addresses and excerpts may be one long word. */
const BREAKS = 'overflow-wrap:anywhere;word-break:break-word';

/**
 * A page that loads nothing and runs nothing. It sets no colours of text and ground but for the link, so that it is dark where everything else is;
 * styles are inline, because many programs drop the others.
 */
const html = (title: string, parts: readonly MailPart[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no">
<title>${escaped(title)}</title>
</head>
<body style="margin:0;padding:24px 16px;${FONT}">
<div style="max-width:600px;margin:0 auto;${BREAKS}">
${parts.map((part) => element(part)).join('\n')}
</div>
</body>
</html>
`;

function element(part: MailPart): string {
  if ('heading' in part)
    return `<h1 style="margin:0 0 16px;font-size:24px;line-height:1.25">${escaped(part.heading)}</h1>`;
  if ('paragraph' in part) return `<p style="margin:0 0 16px">${escaped(part.paragraph)}</p>`;
  if ('facts' in part)
    return `<table role="presentation" style="margin:0 0 16px;border-collapse:collapse;${FONT}">
${part.facts.map(([term, value]) => row(term, value)).join('\n')}
</table>`;
  if ('quotation' in part)
    return `<p style="margin:0 0 4px;font-weight:600">${escaped(part.title)}</p>
<blockquote dir="auto" style="margin:0 0 16px;padding:4px 0 4px 12px;border-left:4px solid ${TONES[part.tone]};${BREAKS}">${part.quotation.map(escaped).join('<br>')}</blockquote>`;
  if ('link' in part)
    return `<p style="margin:24px 0"><a href="${escaped(part.href)}" style="display:inline-block;padding:10px 16px;border-radius:6px;background:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none">${escaped(part.link)}</a></p>`;
  return `<p style="margin:0;padding-top:16px;border-top:1px solid #8888;font-size:13px;opacity:0.8">${escaped(part.note)}</p>`;
}

const row = (term: string, value: string): string =>
  `<tr><th scope="row" style="padding:2px 16px 2px 0;text-align:left;vertical-align:top;font-weight:600;white-space:nowrap">${escaped(term)}</th><td dir="auto" style="padding:2px 0;text-align:left;vertical-align:top;${BREAKS}">${escaped(value)}</td></tr>`;
