import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { EXAMPLES } from '../../integration/guides/receivers/examples.ts';
import { codeBlocks } from '../../support/markdown.ts';

const ROOT = join(import.meta.dirname, '../../..');
const GUIDES = join(ROOT, 'docs/guides');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const readPage = (folder: string): string => read(`docs/guides/receivers/${folder}.md`);
/** Of the receivers. The others are of guides. */
const folders = readdirSync(join(ROOT, 'examples'))
  .filter((name) => name !== 'pipeline' && name !== 'widget')
  .toSorted();

describe('the examples', () => {
  it('have a page each, and are tested', () => {
    const pages = readdirSync(join(GUIDES, 'receivers'))
      .filter((name) => name !== 'README.md')
      .map((name) => name.replace('.md', ''));
    expect(pages.toSorted()).toEqual(folders);
    expect(EXAMPLES.map(({ folder }) => folder).toSorted()).toEqual(folders);
  });

  it('are in the table of the overview', () => {
    const rows = [...read('docs/guides/receivers/README.md').matchAll(/^\| \[[^\]]+\]\(([\w-]+)\.md\)/gm)];
    expect(rows.map(([, page]) => page).toSorted()).toEqual(folders);
  });

  it('have the versions of packages that this repository tests with', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json'));
    const here: Record<string, string> = { ...dependencies, ...devDependencies };
    for (const folder of folders.filter((name) => existsSync(join(ROOT, 'examples', name, 'package.json')))) {
      const example = JSON.parse(read(`examples/${folder}/package.json`));
      const packages: Record<string, string> = { ...example.dependencies, ...example.devDependencies };
      for (const [name, version] of Object.entries(packages))
        if (name in here && name !== 'typescript')
          expect({ folder, name, version }).toEqual({ folder, name, version: here[name] });
    }
  });
});

describe.each(folders)('the page of %s', (folder) => {
  const blocks = codeBlocks(readPage(folder));

  it('shows the code of the example', () => {
    const shown = blocks.filter(({ file }) => file !== undefined);
    expect(shown.length).toBeGreaterThan(0);
    for (const { file = '', text } of shown) {
      expect(file).toContain(`examples/${folder}/`);
      expect(text).toBe(read(file));
    }
  });

  it('has the steps of the other pages', () => {
    const stepsOf = (page: string) => page.slice(page.indexOf('## 4. '), page.indexOf('## Code'));
    expect(stepsOf(readPage(folder))).toBe(stepsOf(readPage('express')));
    const register = (page: string) => page.slice(page.indexOf('## 2. '), page.indexOf('## 3. '));
    expect(register(readPage(folder))).toBe(register(readPage('express')));
  });
});

describe('the table of event ids', () => {
  it('takes an id once', () => {
    const [block] = codeBlocks(read('docs/guides/receivers/README.md')).filter(
      ({ language }) => language === 'sql',
    );
    const [create = '', insert = ''] = block?.text.split('\n') ?? [];
    const database = new DatabaseSync(':memory:');
    database.exec(create);
    const changes = [1, 2].map(() => Number(database.prepare(insert).run().changes));
    database.close();
    expect(changes).toEqual([1, 0]);
  });
});
