import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/** Operation schemas of an SDK client. */
const SCHEMAS = /[/\\]client-[\w-]+[/\\]dist-es[/\\]schemas[/\\]schemas_\d+\.js$/;
const NAME = /^const (_\w+) = ("[^"\\]*");$/gm;
const COMPUTED_KEY = /\[(_\w+)\](?=:)/g;

/** Drops uncalled SDK operations from a bundle. */
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
 * Replaces keys that name strings, `{ [_h]: … }`, by the strings. esbuild treats computed keys as side
 * effects and keeps every operation with one: of SES all instead of one.
 */
export function withPlainKeys(schemas: string): string {
  const strings = new Map([...schemas.matchAll(NAME)].map(([, name = '', string = '']) => [name, string]));
  // As a plain key it would set the prototype.
  for (const [name, string] of strings) if (string === '"__proto__"') strings.delete(name);
  return schemas.replace(COMPUTED_KEY, (key, name: string) => strings.get(name) ?? key);
}
