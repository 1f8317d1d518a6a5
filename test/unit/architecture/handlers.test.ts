import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const FUNCTIONS = join(import.meta.dirname, '../../../functions');
const sources = globSync('**/*.ts', { cwd: FUNCTIONS }).map((path) => ({
  path,
  text: readFileSync(join(FUNCTIONS, path), 'utf8'),
}));

describe('a function', () => {
  it.each(sources.filter(({ text }) => text.includes('export const handler')))(
    'is a handler of middy: $path',
    ({ text }) => {
      expect(/export const handler =\s(\w+)/.exec(text)?.[1]).toMatch(
        /^middy$|Handler$|Worker$|^outboxReader$/,
      );
    },
  );

  it.each(sources.filter(({ text }) => /\bmiddy</.test(text)))(
    'has the frame of requests, or the middleware of workers: $path',
    ({ path, text }) => {
      const frames = path === 'http/lifecycle.ts' ? 1 : 0;
      const workers = text.match(/\.use\(invocation\(/g)?.length ?? 0;
      expect(frames + workers).toBe(text.match(/\bmiddy</g)?.length);
    },
  );
});
