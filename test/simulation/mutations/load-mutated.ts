import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Mutation } from './mutation.ts';

const ROOT = join(import.meta.dirname, '../../..');

/**
 * Lets whatever this thread loads from now on have the changed source in place of the real one.
 * @throws Error when what is to be changed is not there exactly once
 */
export function loadMutated({ file, find, replace }: Mutation): void {
  const path = join(ROOT, file);
  const parts = readFileSync(path, 'utf8').split(find);
  if (parts.length !== 2)
    throw new Error(`"${find}" occurs ${parts.length - 1} times in ${file}, and must once`);
  const target = pathToFileURL(path).href;
  registerHooks({
    load: (url, context, nextLoad) =>
      url === target
        ? { format: 'module-typescript', source: parts.join(replace), shortCircuit: true }
        : nextLoad(url, context),
  });
}
