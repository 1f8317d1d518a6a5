import type { PromiseName } from '../promises.ts';

interface Edit {
  /** Path from the root of the project. */
  file: string;
  /** Occurs in the file exactly once. */
  find: string;
  replace: string;
}

/** A change of the sources that breaks a promise. */
export interface Mutation extends Edit {
  name: string;
  /** What a run may say first when it meets the change. */
  breaks: readonly PromiseName[];
  /** Where to begin, when few seeds show it; it saves time and decides nothing. */
  firstSeed?: number;
  /** The file of the real rule, when the changed one is a double that has the same rule in other words. */
  standsFor?: string;
  /** Further changes that belong to it. */
  also?: readonly Edit[];
}
