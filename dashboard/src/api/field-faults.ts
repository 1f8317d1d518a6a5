import { ApiFailure, type FieldFault } from './failures.ts';

/** The field of a form that a fault belongs to: `events.0` belongs to `events`. */
const fieldOf = ({ field }: FieldFault, fields: readonly string[]): string | undefined =>
  fields.find((name) => field === name || field.startsWith(`${name}.`));

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
    const field = fieldOf(fault, fields);
    if (field !== undefined) problems[field] ??= textOf(fault);
  }
  const isWhole = details.length > 0 && details.every((fault) => fieldOf(fault, fields) !== undefined);
  return { problems, isWhole };
}
