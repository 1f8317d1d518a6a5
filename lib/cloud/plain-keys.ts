import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/** Where an SDK client describes its operations. */
const SCHEMAS = /[/\\]client-[\w-]+[/\\]dist-es[/\\]schemas[/\\]schemas_\d+\.js$/;
const NAME = /^const (_\w+) = ("[^"\\]*");$/gm;
const COMPUTED_KEY = /\[(_\w+)\](?=:)/g;

/** Leaves out of a bundle the SDK operations that are not called. */
export const plainKeys: Plugin = {
  name: 'plain-keys',
  setup({ onLoad }) {
    onLoad({ filter: SCHEMAS }, async ({ path }) => ({
      loader: 'js',
      contents: withPlainKeys(await readFile(path, 'utf8')),
    }));
  },
};

/**
 * Writes keys that are names of strings, `{ [_h]: … }`, as these strings. esbuild treats a computed key as a
 * side effect and keeps every operation that has one: of SES all of them instead of the one that is called.
 */
export function withPlainKeys(schemas: string): string {
  const strings = new Map([...schemas.matchAll(NAME)].map(([, name = '', string = '']) => [name, string]));
  // As a plain key it would set the prototype.
  for (const [name, string] of strings) if (string === '"__proto__"') strings.delete(name);
  return schemas.replace(COMPUTED_KEY, (key, name: string) => strings.get(name) ?? key);
}
