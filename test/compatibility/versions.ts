import type * as code from './code.ts';

/** The code of a version: its functions' engine and stores. */
export type Code = typeof code;

/** The present code, and the code of the version before, which `freeze.ts` has made one file of. */
export interface Versions {
  present: Code;
  previous: Code;
}

export async function versions(): Promise<Versions> {
  const [present, previous] = await Promise.all([
    import('./code.ts'),
    // What is made of a version has no types of its own: it is held to those of the present one, which is
    // what is tried here.
    import(new URL('./previous/code.mjs', import.meta.url).href) as Promise<Code>,
  ]);
  return { present, previous };
}
