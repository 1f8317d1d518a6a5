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
  /** The promises of which the simulation may report one. */
  breaks: readonly PromiseName[];
  /** The seed to start with, when few seeds show the change. It only saves time. */
  firstSeed?: number;
  /** Further changes that belong to it, also of the simulation, so that few seeds show it. */
  also?: readonly Edit[];
}

/** Mutations whose first edit is in one file. */
export const inFile = (file: string, mutations: readonly Omit<Mutation, 'file'>[]): Mutation[] =>
  mutations.map((mutation) => ({ file, ...mutation }));
