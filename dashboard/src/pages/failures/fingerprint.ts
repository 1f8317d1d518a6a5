const MAX_LENGTH = 160;
/** What stands for a number, an identifier or a time. */
export const ANY = '#';

const TIMESTAMP = /\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?/g;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** A word with at least one digit. */
const NUMBERED = /[\p{L}\p{N}_-]*\p{N}[\p{L}\p{N}_-]*/gu;
/** `E1001`, `HTTP2`: a code in capitals names the cause. */
const CODE = /^[A-Z]{1,8}[-_]?\d{1,5}$/;
/** A prefix of an identifier: `usr_01a1f8`. */
const PREFIXED = /^\p{L}{1,8}[_-](?=[\p{L}\p{N}_-]{6,}$)/u;
const MIN_RANDOM = 12;

/**
 * What messages of one cause have in common: numbers, identifiers and times are replaced, white space is
 * one space. The fingerprint of a fingerprint is the same.
 */
export function fingerprintOf(message: string): string {
  const plain = message
    .slice(0, 4 * MAX_LENGTH)
    .toWellFormed()
    .replaceAll(TIMESTAMP, ANY)
    .replaceAll(UUID, ANY)
    .replaceAll(NUMBERED, withoutNumbers)
    .replaceAll(/#(?:[.,:]#)+/g, ANY)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return cut(plain);
}

function withoutNumbers(word: string): string {
  if (CODE.test(word)) return word;
  if (PREFIXED.test(word) || word.length >= MIN_RANDOM) return ANY;
  return word.replaceAll(/\p{N}+/gu, ANY);
}

/** Ends at a word where it is too long, so that no code is cut in two. */
function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  const end = text.lastIndexOf(' ', MAX_LENGTH);
  return end > 0 ? text.slice(0, end) : text.slice(0, MAX_LENGTH).replace(/[\p{N}\ud800-\udbff]+$/u, '');
}

/** Fields of a JSON body that say what went wrong, in this order. */
const NAMES = ['message', 'detail', 'error_description', 'description', 'reason', 'title', 'error', 'errors'];
const MAX_DEPTH = 4;

/** The message in the beginning of a response: of JSON and HTML the part that is for people. */
export function messageIn(response: string): string {
  const text = response.trim();
  if (/^[[{]/.test(text)) return messageInJson(text) ?? text;
  if (/^<(?:!doctype|html|head|title)/i.test(text)) return messageInHtml(text);
  return text;
}

function messageInJson(text: string): string | undefined {
  try {
    return saidIn(JSON.parse(text), MAX_DEPTH);
  } catch {
    // Only the beginning of a long body is kept.
    const found = /"(?:message|detail|error_description|title|error)"\s*:\s*"((?:[^"\\]|\\.){1,300})"/.exec(
      text,
    );
    return found?.[1];
  }
}

function saidIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (depth === 0 || typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return saidIn(value[0], depth - 1);
  const fields = new Map<string, unknown>(Object.entries(value));
  for (const name of NAMES) {
    const said = saidIn(fields.get(name), depth - 1);
    if (said !== undefined) return said;
  }
  return undefined;
}

function messageInHtml(text: string): string {
  const titled = /<title[^>]*>([^<]{1,300})/i.exec(text) ?? /<h1[^>]*>([^<]{1,300})/i.exec(text);
  return (titled?.[1] ?? text.replaceAll(/<[^>]*>?/g, ' ')).trim();
}
