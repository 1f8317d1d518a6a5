import { randomBytes } from 'node:crypto';

/** A secret, with its name for reports. */
export interface Canary {
  name: string;
  text: string;
}

/** A unique text, which JSON, URLs and headers leave unchanged. */
export const canary = (name: string): Canary => ({ name, text: `kanari${randomBytes(9).toString('hex')}` });

/**
 * The encodings of a text: plain, percent-encoded and JSON-escaped, in base64 of either alphabet at any
 * offset, and in hexadecimal.
 */
function formsOf(text: string): string[] {
  const plain = [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)];
  const encoded = [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
    const whole = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 3))).toString('base64');
    // The first characters contain bits of the preceding bytes.
    const own = whole.slice(offset === 0 ? 0 : 4);
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [...new Set([...plain, ...encoded, Buffer.from(text).toString('hex')])];
}

/** The secrets in the lines, each with its line. */
export function leaks(canaries: readonly Canary[], lines: readonly string[]): string[] {
  const sought = canaries.map(({ name, text }) => ({ name, forms: formsOf(text) }));
  const any = toPattern(sought.flatMap(({ forms }) => forms));
  // One pass over each line: nearly all lines contain none.
  const suspects = lines.filter((line) => any.test(line));
  return suspects.flatMap((line) =>
    sought.flatMap(({ name, forms }) =>
      forms.some((form) => line.includes(form)) ? [`${name}: ${line.slice(0, 600)}`] : [],
    ),
  );
}

/** Beginnings of all credentials and signing secrets. A shorter text would match anywhere. */
const CREDENTIALS = ['ck_live_', 'ck_sandbox_', 'whsec_', 'cvt_', 'Bearer ey'];
const TELLING = 8;

/** The lines that contain any credential. */
export function linesWithCredentials(lines: readonly string[]): string[] {
  const forms = CREDENTIALS.flatMap((prefix) => [
    prefix,
    ...formsOf(prefix).filter((form) => form.length >= TELLING),
  ]);
  const sought = toPattern(forms);
  return lines.filter((line) => sought.test(line));
}

const toPattern = (forms: readonly string[]): RegExp =>
  new RegExp(forms.map((form) => form.replaceAll(/\W/g, '\\$&')).join('|'));
