import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { LocalFunctionOptions } from '../../src/functions/options.ts';
import { LocalFunction } from '../../src/functions/runtime.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** A function with this body of a handler `(event, context)`, until the end of the test. */
export function aFunction(body: string, options: Partial<LocalFunctionOptions> = {}): LocalFunction {
  return aFunctionModule(`export const handler = async (event, context) => { ${body} };`, options);
}

/** A function with this source as its module `index.mjs`. */
export function aFunctionModule(source: string, options: Partial<LocalFunctionOptions> = {}): LocalFunction {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'index.mjs'), source);
  const fn = new LocalFunction({
    name: 'Test-Function',
    directory,
    handler: 'index.handler',
    timeoutSeconds: 20,
    memoryMiB: 256,
    environment: {},
    maxSandboxes: 1,
    statements: [],
    ...options,
  });
  onTestFinished(() => fn.stop());
  return fn;
}
