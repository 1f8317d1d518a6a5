/** Characters of a line without its end (RFC 2045, section 6.7). */
const LINE = 76;

/** Encodes UTF-8 text as quoted-printable lines; all line breaks become CRLF. */
export function toQuotedPrintable(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map(encodeLine)
    .join('\r\n');
}

export function fromQuotedPrintable(encoded: string): string {
  const bytes = encoded
    .replaceAll('=\r\n', '')
    .replaceAll('\r\n', '\n')
    .replaceAll(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function encodeLine(line: string): string {
  const tokens = Array.from(Buffer.from(line, 'utf8'), (byte) =>
    isPlain(byte) ? String.fromCharCode(byte) : encoded(byte),
  );
  // A space at the end of a line may be lost in transit.
  const last = tokens.at(-1);
  if (last === ' ' || last === '\t') tokens[tokens.length - 1] = encoded(last.charCodeAt(0));
  const lines: string[] = [];
  let current = '';
  for (const token of tokens) {
    if (current.length + token.length >= LINE) {
      lines.push(`${current}=`);
      current = '';
    }
    current += token;
  }
  return [...lines, current].join('\r\n');
}

const isPlain = (byte: number) => byte === 9 || (byte >= 32 && byte <= 126 && byte !== 61);
const encoded = (byte: number) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`;
