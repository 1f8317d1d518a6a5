import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findHeadings, findLongComments, findWordings, readPage, readSource } from './prose.ts';

const ROOT = join(import.meta.dirname, '../../..');
const COLUMNS = 110;

interface Source {
  path: string;
  text: string;
}

const filesOf = (patterns: string[]): Source[] =>
  globSync(patterns, { cwd: ROOT })
    .filter((path) => !/node_modules|\.next\/|\.venv\//.test(path) && !path.endsWith('.gen.ts'))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

/** The check itself has the words that it finds, and recorded code and rows stay as they are. */
const EXEMPT = /architecture\/prose|compatibility\/(?:previous|fixtures)/;

const sources = filesOf([
  '{functions,lib,bin,test,examples,dashboard/{src,test},packages/*/{src,test}}/**/*.{ts,tsx}',
]).filter(({ path }) => !EXEMPT.test(path));
/** Parsed once for all tests. */
const proseOf = memoizeByPath(({ path, text }) => readSource(path, text));
const commentsOf = (source: Source) => proseOf(source).filter(({ kind }) => kind === 'comment');
const pages = filesOf(['*.md', '{docs,packages,dashboard}/**/*.md']);

describe('comments, texts and pages', () => {
  it('use the words of the field', () => {
    expect(sources.length).toBeGreaterThan(1200);
    const faults = [
      ...sources.map((source) => ({ path: source.path, prose: proseOf(source) })),
      ...pages.map(({ path, text }) => ({ path, prose: readPage(text) })),
    ].flatMap(({ path, prose }) =>
      prose.flatMap(({ line, text }) => findWordings(text).map((wording) => `${path}:${line} ${wording}`)),
    );
    expect(faults).toEqual([]);
  });

  it(`have no comment of more than ${COLUMNS} columns`, () => {
    const faults = sources.flatMap(({ path, text }) =>
      findLongComments(path, text, COLUMNS).map((line) => `${path}:${line}`),
    );
    expect(faults).toEqual([]);
  });

  it('cite only pages of this repository', () => {
    const exists = (path: string, page: string): boolean =>
      ['.', 'docs', relative('.', dirname(path))].some((from) => existsSync(join(ROOT, from, page)));
    const faults = sources.flatMap((source) =>
      commentsOf(source).flatMap(({ line, text: comment }) =>
        [...comment.matchAll(/(?<![\w:/.-])[\w./-]+\.md\b/g)]
          .filter(([page]) => !exists(source.path, page))
          .map(([page]) => `${source.path}:${line} ${page}`),
      ),
    );
    expect(faults).toEqual([]);
  });

  it('cite only headings that a page has', () => {
    const faults = sources.flatMap((source) =>
      commentsOf(source).flatMap(({ line, text: comment }) =>
        findHeadings(comment)
          .filter(({ page, heading }) => !headingsOf(page).includes(heading))
          .map(({ page, heading }) => `${source.path}:${line} ${page}, ${heading}`),
      ),
    );
    expect(faults).toEqual([]);
  });
});

function memoizeByPath<T>(read: (source: Source) => T): (source: Source) => T {
  const parsed = new Map<string, T>();
  return (source) => {
    const value = parsed.get(source.path) ?? read(source);
    parsed.set(source.path, value);
    return value;
  };
}

/** Headings of a page, or none when it does not exist. */
function headingsOf(page: string): string[] {
  const text = pages.find(({ path }) => path === page)?.text ?? '';
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
}

describe('the check of wordings', () => {
  it.each([
    ['What is owed to an endpoint', '"owed"'],
    ['whoever registered the URL', '"whoever"'],
    ['Deals with a batch', '"Deals"'],
    ['a job that is under\nway', '"under way"'],
    ['the lock is had before', '"is had"'],
  ])('finds %s', (text, word) => {
    expect(findWordings(text).join()).toContain(word);
  });

  it('leaves names in backticks, and words that contain one', () => {
    expect(findWordings('The field `owed` and an outdoors tower.')).toEqual([]);
  });

  it('reads comments, sentences of the code and pages, with their lines', () => {
    const source = "// One.\nconst text = 'two words more';\n/**\n * Three.\n */\nconst code = 'a_code';\n";
    expect(readSource('a.ts', source).map(({ kind, line, text }) => [kind, line, text.trim()])).toEqual([
      ['comment', 1, 'One.'],
      ['comment', 3, 'Three.'],
      ['text', 2, 'two words more'],
    ]);
    expect(readPage('# A\n```sh\nwhoever\n```\nB\n').map(({ line }) => line)).toEqual([1, 5]);
  });

  it('finds the headings that a comment cites', () => {
    const comment =
      'Kept for a day (docs/specification.md,\n * Error types). See docs/architecture.md, Guarantees.';
    expect(findHeadings(comment)).toEqual([
      { page: 'docs/specification.md', heading: 'Error types' },
      { page: 'docs/architecture.md', heading: 'Guarantees' },
    ]);
  });

  it('finds lines of comments that are too long', () => {
    const source = `const short = 1; // ${'a'.repeat(10)}\n/*\n * ${'b'.repeat(120)}\n */\n`;
    expect(findLongComments('a.ts', source, COLUMNS)).toEqual([3]);
  });
});
