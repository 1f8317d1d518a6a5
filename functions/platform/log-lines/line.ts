type Level = 'debug' | 'info' | 'warn' | 'error';

/**
 * Kinds of fields. There is no free text: `words` are fixed text or a dependency's code, and a `failure` is
 * reduced by `failure-fields.ts`.
 */
export interface FieldKinds {
  /** A name made by the service or AWS: an id, a time, an ARN. */
  id: string;
  words: string;
  count: number;
  counts: Readonly<Record<string, number>>;
  flag: boolean;
  failure: unknown;
}
export type FieldKind = keyof FieldKinds;

export interface Line {
  readonly level: Level;
  /** Its meaning: the line's `message`. */
  readonly message: string;
  /** What an operator does. */
  readonly operator: string;
  readonly fields: Readonly<Record<string, FieldKind>>;
}

/** Keeps the fields' names and kinds in the type. */
export const lines = <const L extends Readonly<Record<string, Line>>>(all: L): L => all;
