import { randomBytes } from 'node:crypto';

/** Something that must not come to light, and what to call it where it did. */
export interface Canary {
  name: string;
  text: string;
}

/** A text that nothing else has, which goes unchanged through JSON, URLs and headers. */
export const canary = (name: string): Canary => ({ name, text: `kanari${randomBytes(9).toString('hex')}` });

/**
 * The forms in which a text may be found: plain, percent-encoded and JSON-escaped, in base64 of either
 * alphabet wherever in the bytes around it it stands, and in hexadecimal.
 */
function formsOf(text: string): string[] {
  const plain = [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)];
  const encoded = [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
    const whole = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 3))).toString('base64');
    // The first characters hold bits of what stands before.
    const own = whole.slice(offset === 0 ? 0 : 4);
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [...new Set([...plain, ...encoded, Buffer.from(text).toString('hex')])];
}

/** What of all this is in one of the lines, with the line. */
export function leaks(canaries: readonly Canary[], lines: readonly string[]): string[] {
  const sought = canaries.map(({ name, text }) => ({ name, forms: formsOf(text) }));
  return lines.flatMap((line) =>
    sought.flatMap(({ name, forms }) =>
      forms.some((form) => line.includes(form)) ? [`${name}: ${line.slice(0, 600)}`] : [],
    ),
  );
}

/**
 * How everything begins that somebody can authenticate or sign with. A part of it that is shorter than this
 * is found anywhere.
 */
const CREDENTIALS = ['ck_live_', 'ck_sandbox_', 'whsec_', 'cvt_', 'Bearer ey'];
const TELLING = 8;

/** The lines that hold a credential, whosever it is. */
export function linesWithCredentials(lines: readonly string[]): string[] {
  const forms = CREDENTIALS.flatMap((prefix) => [
    prefix,
    ...formsOf(prefix).filter((form) => form.length >= TELLING),
  ]);
  const sought = new RegExp(forms.map((form) => form.replaceAll('+', '\\+')).join('|'));
  return lines.filter((line) => sought.test(line));
}
