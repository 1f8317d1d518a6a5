import type * as code from './code.ts';

/** The code of a version: its functions' engine and stores. */
export type Code = typeof code;

/** The present code, and the code of the previous version, which `freeze.ts` has bundled into one file. */
export interface Versions {
  present: Code;
  previous: Code;
}

export async function versions(): Promise<Versions> {
  const [present, previous] = await Promise.all([
    import('./code.ts'),
    // The bundle has no types, so it is used with the types of the present code; the tests check that they
    // fit.
    import(new URL('./previous/code.mjs', import.meta.url).href) as Promise<Code>,
  ]);
  return { present, previous };
}
