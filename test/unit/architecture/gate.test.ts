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
  it('are TypeScript, every file, so that no other kind of module is passed over', () => {
    expect(paths.length).toBeGreaterThan(100);
    expect(paths.filter((path) => !path.endsWith('.ts'))).toEqual([]);
  });

  it('reach nothing but by the table, and the outside world by the gate alone', () => {
    expect(sources.flatMap(violationsOf)).toEqual([]);
  });
});

describe('the table of what may be reached', () => {
  const entries = ALLOWED.flatMap(({ modules, in: files }) =>
    modules.flatMap((module) => files.map((place) => ({ module, place }))),
  );

  it.each(entries)('says of $module in "$place" what is so', ({ module, place }) => {
    const users = sources.filter(
      ({ path, loads }) => isIn(path, [place]) && loads.some((each) => each.module === module),
    );
    expect(users).not.toEqual([]);
  });

  it.each(TAKEN_FROM_OUTBOUND)('says of $name what is so', ({ name, by }) => {
    const users = sources.filter(
      ({ path, loads }) => isIn(path, by) && loads.some(({ names }) => names.includes(name)),
    );
    expect(users).not.toEqual([]);
  });

  it('says of global names what is so', () => {
    for (const [name, files] of Object.entries(GLOBALS))
      for (const place of files) {
        const source = sources.find(({ path }) => path === place);
        const said = source?.places.some(({ node }) => node.type === 'Identifier' && nameOf(node) === name);
        expect(said, `${name} in ${place}`).toBe(true);
      }
  });

  it('names for whatever reaches the outside world the one file that requires a permit', () => {
    for (const { modules, reaches, permit } of ALLOWED) {
      expect(permit !== undefined, modules.join()).toBe(reaches === 'the outside world');
      if (permit !== undefined) expect(paths).toContain(permit.in);
    }
  });
});
