import { ApiFailure, type FieldFault } from './failures.ts';

/*
 * The API names a fault by its field and an English sentence, which may change (docs/reference/errors.md). A
 * known sentence has a text in each language; of an unknown one the API's own text is shown.
 */

/** What is wrong with a field, where the page has a text of its own for it. */
export type FaultKind = keyof typeof SENTENCES;

/** A number in a sentence is passed to its text. */
const SENTENCES = {
  required: /^is required$/,
  https: /^must use https$/,
  credentials: /^must not contain credentials$/,
  fragment: /^must not contain a fragment$/,
  host: /^must have a public host name or public address$/,
  port: /^port must be 443 or at least (\d+)$/,
  invisible: /^must not contain whitespace, control or invisible characters$/,
  url: /^must (?:be a valid absolute URL|not contain backslashes|be well-formed Unicode)$/,
  blocked: /^has a host that the operator of this service has blocked$/,
  long: /^must (?:be|have) at most (\d+) characters?$/,
  few: /^must have at least (\d+) items?$/,
  least: /^must be at least (\d+)$/,
  most: /^must be at most (\d+)$/,
  control:
    /^must (?:not have control characters other than tabs and newlines|be text without lone surrogates)$/,
} as const satisfies Record<string, RegExp>;

/** The kind of a fault and the number in it; undefined for a sentence that is not known. */
export function kindOf(message: string): { kind: FaultKind; limit: number } | undefined {
  for (const [kind, sentence] of Object.entries(SENTENCES)) {
    const found = sentence.exec(message);
    if (found) return { kind: kind as FaultKind, limit: Number(found[1] ?? 0) };
  }
  return undefined;
}

/** The field of a form that a fault belongs to: `events.0` belongs to `events`. */
const fieldOf = ({ field }: FieldFault): string => field.split('.')[0] ?? field;

/**
 * Distributes the faults of a refused request among the fields of a form.
 * @param fields names of the form's fields
 * @param textOf says a fault in the page's language
 * @returns the first fault of each field, and whether all faults have a field
 */
export function faultsByField(
  error: unknown,
  fields: readonly string[],
  textOf: (fault: FieldFault) => string,
): { problems: Record<string, string>; isWhole: boolean } {
  const details = error instanceof ApiFailure ? error.details : [];
  const problems: Record<string, string> = {};
  for (const fault of details) {
    const field = fieldOf(fault);
    if (fields.includes(field)) problems[field] ??= textOf(fault);
  }
  const isWhole = details.length > 0 && details.every((fault) => fields.includes(fieldOf(fault)));
  return { problems, isWhole };
}
