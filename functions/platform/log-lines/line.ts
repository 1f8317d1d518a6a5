type Level = 'debug' | 'info' | 'warn' | 'error';

/**
 * What a field may hold. There is no kind for free text: `words` are ours or a dependency's code, and a
 * `failure` is told by what `failure-fields.ts` takes of an error.
 */
export interface FieldKinds {
  /** A name that the service or AWS made: an identifier, a time, an ARN. */
  id: string;
  words: string;
  count: number;
  counts: Readonly<Record<string, number>>;
  flag: boolean;
  failure: unknown;
}
export type FieldKind = keyof FieldKinds;

/** One line that the code may log. */
export interface Line {
  readonly level: Level;
  /** What it means: the line's `message`. */
  readonly says: string;
  /** What an operator notices or does. */
  readonly operator: string;
  readonly fields: Readonly<Record<string, FieldKind>>;
}

/** Keeps the fields' names and kinds in the type. */
export const lines = <const L extends Readonly<Record<string, Line>>>(all: L): L => all;
