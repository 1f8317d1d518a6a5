import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { violationsOf } from './gate-check.ts';
import { ALLOWED, GLOBALS, isIn, TAKEN_FROM_OUTBOUND } from './reach.ts';
import { nameOf, type Source, sourceOf } from './source.ts';

const ROOT = join(import.meta.dirname, '../../../functions');
const paths = globSync('**/*', { cwd: ROOT, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) =>
    join(entry.parentPath, entry.name)
      .slice(ROOT.length + 1)
      .split(sep)
      .join('/'),
  );
const sources: readonly Source[] = paths.map((path) =>
  sourceOf(path, readFileSync(join(ROOT, path), 'utf8')),
);

describe('the functions', () => {
  it('are TypeScript, so that this check reads every file', () => {
    expect(paths.length).toBeGreaterThan(100);
    expect(paths.filter((path) => !path.endsWith('.ts'))).toEqual([]);
  });

  it('reach only what the table permits, and the outside world only with a permit', () => {
    expect(sources.flatMap(violationsOf)).toEqual([]);
  });
});

describe('the table of permitted modules', () => {
  const entries = ALLOWED.flatMap(({ modules, in: files }) =>
    modules.flatMap((module) => files.map((place) => ({ module, place }))),
  );

  it.each(entries)('has a user of $module in "$place"', ({ module, place }) => {
    const users = sources.filter(
      ({ path, loads }) => isIn(path, [place]) && loads.some((each) => each.module === module),
    );
    expect(users).not.toEqual([]);
  });

  it.each(TAKEN_FROM_OUTBOUND)('has a user of $name', ({ name, by }) => {
    const users = sources.filter(
      ({ path, loads }) => isIn(path, by) && loads.some(({ names }) => names.includes(name)),
    );
    expect(users).not.toEqual([]);
  });

  it('has a use of each global name in each file', () => {
    for (const [name, files] of Object.entries(GLOBALS))
      for (const place of files) {
        const source = sources.find(({ path }) => path === place);
        const said = source?.places.some(({ node }) => node.type === 'Identifier' && nameOf(node) === name);
        expect(said, `${name} in ${place}`).toBe(true);
      }
  });

  it('names the one file that requires a permit for everything that reaches the outside world', () => {
    for (const { modules, reaches, permit } of ALLOWED) {
      expect(permit !== undefined, modules.join()).toBe(reaches === 'the outside world');
      if (permit !== undefined) expect(paths).toContain(permit.in);
    }
  });
});
