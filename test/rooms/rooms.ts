import { createRequire, registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ICruiseResult } from 'dependency-cruiser';
import { commandLine } from 'terminal/command-line.ts';
import { RULES } from './rules.ts';

/*
 * `npm run rooms`: reads every import, reports those that a rule of rules.ts forbids, and prints which room
 * imports which.
 */

const ROOT = join(import.meta.dirname, '../..');
const { check } = commandLine(
  'npm run rooms --',
  'Prints which room imports which, with the number of imports, and what a rule of test/rooms/rules.ts forbids.',
)
  .option('--check', 'print the second alone')
  .parse()
  .opts();

// dependency-cruiser parses with the JavaScript API of TypeScript, which version 7 does not have: it gets the
// dashboard's version 5.
const { resolve } = createRequire(join(ROOT, 'dashboard/package.json'));
const parser = new Map(
  ['typescript', 'typescript/package.json'].map((name) => [name, pathToFileURL(resolve(name)).href]),
);
registerHooks({
  resolve(specifier, context, next) {
    const url = parser.get(specifier);
    return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
  },
});
const { cruise, format, allExtensions } = await import('dependency-cruiser');
if (!allExtensions.some(({ extension, available }) => extension === '.ts' && available))
  throw new Error('dependency-cruiser found no TypeScript that it can parse with');

const { output } = await cruise(
  ['bin', 'lib', 'functions', 'packages', 'dashboard/src', 'test'],
  {
    baseDir: ROOT,
    validate: true,
    ruleSet: { forbidden: RULES },
    parser: 'tsc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: {
      path: '^packages/(?:cli|sdk)/dist/|^examples/',
    },
  },
  { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
);
const result = output as ICruiseResult;
if (!check) process.stdout.write(renderRooms(result));
if (result.summary.violations.length > 0) {
  const { output: report } = await format(result, { outputType: 'err' });
  process.stderr.write(`${report}${renderReasons(result)}`);
  process.exitCode = 1;
}

/** The reasons of the broken rules. */
function renderReasons({ summary }: ICruiseResult): string {
  const broken = new Set(summary.violations.map(({ rule }) => rule.name));
  const reasons = RULES.filter(({ name = '' }) => broken.has(name)).map(({ comment }) => `  ${comment}\n`);
  return `${[...new Set(reasons)].join('')}\n`;
}

/**
 * A line for each room: the rooms that it imports, with the number of imports. Tests are left out, because
 * they import everything.
 */
function renderRooms({ modules }: ICruiseResult): string {
  const imports = new Map<string, Map<string, number>>();
  for (const { source, dependencies } of modules) {
    const from = findRoom(source);
    if (from === undefined) continue;
    const targets = imports.get(from) ?? new Map<string, number>();
    imports.set(from, targets);
    for (const { resolved } of dependencies) {
      const to = findRoom(resolved);
      if (to !== undefined && to !== from) targets.set(to, (targets.get(to) ?? 0) + 1);
    }
  }
  const lines = [...imports]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([room, targets]) => {
      const named = [...targets].toSorted(([, a], [, b]) => b - a).map(([to, count]) => `${to} ${count}`);
      return `  ${room.padEnd(26)}${named.join(', ') || '–'}`;
    });
  return `\n  ${'Room'.padEnd(26)}Imports\n${lines.join('\n')}\n\n`;
}

function findRoom(file: string): string | undefined {
  if (file.includes('node_modules/')) return undefined;
  return /^(?:bin|dashboard|(?:functions|lib|packages)\/[^/]+)(?=\/)/.exec(file)?.[0];
}
