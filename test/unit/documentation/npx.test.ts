import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
/** Programs of this repository's dependencies: `npx` runs these without asking a registry. */
const PROGRAMS = readdirSync(join(ROOT, 'node_modules/.bin'));
const PAGES = globSync('{*.md,{docs,examples,packages}/**/*.md}', {
  cwd: ROOT,
  exclude: (path) => path.includes('node_modules'),
});
const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

describe('the documentation', () => {
  it('runs by npx only programs of the repository’s dependencies, which no registry is asked for', () => {
    const named = PAGES.flatMap((page) =>
      [...textOf(page).matchAll(/\bnpx (?!`)(?:-\S+ )*([\w@./-]+)/g)].map(([, program = '']) => [
        page,
        program,
      ]),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(([, program = '']) => !PROGRAMS.includes(program))).toEqual([]);
  });

  it('configures other programs, which run in any directory, without npx', () => {
    expect(PAGES.filter((page) => /"command":\s*"(?:npx|npm)"/.test(textOf(page)))).toEqual([]);
  });
});
