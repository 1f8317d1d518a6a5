import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * Calls that only make a schema: zod's factories, and our own of `functions/api/fields.ts`,
 * `functions/domain/ids.ts` and `events.ts`.
 */
const FACTORY = /(?<![\w.'"`])(?=(?:z\.(?:\w+\.)*\w+|text|orNull|distinct|listed|identifier|eventType)\()/g;

/**
 * Tells the bundler that making a schema has no side effects, so that a function is left without those which
 * it does not use; making all of them took a quarter of its load time. Zod says so of its functions, but
 * esbuild does not take that from one module to another (esbuild issue 4369), only at the call itself.
 * @param root of the functions' sources
 */
export const pureSchemas = (root: string): Plugin => ({
  name: 'pure-schemas',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) =>
      path.startsWith(join(root, '/'))
        ? { loader: 'ts', contents: (await readFile(path, 'utf8')).replace(FACTORY, '/* @__PURE__ */ ') }
        : undefined,
    );
  },
});
