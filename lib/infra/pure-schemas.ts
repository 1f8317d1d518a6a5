import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * Calls that only create a schema: zod's factories, and those of `functions/api/fields.ts`,
 * `functions/aws/ids.ts` and `events.ts`.
 */
const FACTORY =
  /(?<![\w.'"`])(?=(?:z\.(?:\w+\.)*\w+|text|note|clamped|orNull|distinct|listed|identifier|eventType)\()/g;

/**
 * Marks schema calls as pure, so that esbuild drops a function's unused schemas: creating all of them took a
 * quarter of its load time. esbuild honors zod's own marks within a module only (esbuild issue 4369).
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
