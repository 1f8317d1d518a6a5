import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, codeBlocks, relativeLinksOf } from '../../support/markdown.ts';

const ROOT = join(import.meta.dirname, '../../..');
const git = (...args: string[]): string[] =>
  execFileSync('git', ['ls-files', ...args], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);

const pages = new Map(
  git('--cached', '--others', '--exclude-standard', '*.md')
    .filter((file) => existsSync(join(ROOT, file)))
    .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
);

/** @returns why a link of a page is broken; undefined for a valid one */
function problemOf(page: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), decodeURI(path)));
  if (!existsSync(join(ROOT, target))) return `${page}: ${link}: no such file`;
  if (anchor === undefined) return undefined;
  if (!anchorsOf(pages.get(target) ?? '').includes(anchor)) return `${page}: ${link}: no such heading`;
  return undefined;
}

/** Files that a guide tells its reader to write. */
const OF_READERS = ['lib/stages/eu.ts'];

/** Paths of this repository, or of the page's package, that a page names as code. */
const findPaths = (text: string): string[] =>
  [
    ...text
      .replaceAll(/^```[\s\S]*?^```/gm, '')
      .matchAll(/`((?:bin|dashboard|docs|examples|functions|lib|packages|test)\/[\w./@-]+)`/g),
  ].map(([, path = '']) => path);

/** Whether a page can name a path: it exists, or git ignores it because it is generated. */
function isPath(page: string, path: string): boolean {
  if (OF_READERS.includes(path)) return true;
  if ([ROOT, join(ROOT, dirname(page))].some((folder) => existsSync(join(folder, path)))) return true;
  return spawnSync('git', ['check-ignore', '--quiet', path], { cwd: ROOT }).status === 0;
}

const sources = git('*.ts', '*.tsx', '*.json', '.ci/*')
  .filter((file) => existsSync(join(ROOT, file)))
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));

/** Pages that a source names, with the heading of a citation such as `docs/specification.md, Error types`. */
function findCitations(source: string): { page: string; heading: string | undefined }[] {
  const oneLine = source.replaceAll(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' ');
  return [...oneLine.matchAll(/(?<![\w/.-])(docs\/[\w/-]+\.md)\b(?:, ([A-Z][\w -]*\w)(?=[).,;:]|$))?/g)].map(
    ([, page = '', heading]) => ({ page, heading }),
  );
}

const hasHeading = (page: string, heading: string | undefined): boolean =>
  existsSync(join(ROOT, page)) &&
  (heading === undefined || new RegExp(`^#+ ${heading}$`, 'm').test(pages.get(page) ?? ''));

/** Pages that links of some pages lead to, directly or not. */
function reachableFrom(...starts: string[]): Set<string> {
  const reached = new Set(starts);
  for (const page of reached)
    for (const link of relativeLinksOf(pages.get(page) ?? '')) {
      const target = relative(ROOT, join(ROOT, dirname(page), link.split('#')[0] ?? ''));
      if (pages.has(target)) reached.add(target);
    }
  return reached;
}

/** The formatter breaks code, not comments. */
const isLongComment = (line: string): boolean => line.length > 110 && /^\s*(?:\/\/|\/?\*+[ /])/.test(line);

describe('the documentation', () => {
  it('has links to existing files and headings only', () => {
    const problems = [...pages].flatMap(([page, text]) =>
      relativeLinksOf(text).flatMap((link) => problemOf(page, link) ?? []),
    );
    expect(problems).toEqual([]);
  });

  it('names existing paths only', () => {
    const missing = [...pages].flatMap(([page, text]) =>
      findPaths(text).flatMap((path) => (isPath(page, path) ? [] : `${page}: ${path}`)),
    );
    expect(missing).toEqual([]);
  });

  it('has no page without a link from the README or the index', () => {
    const reached = reachableFrom('README.md', 'docs/README.md');
    expect([...pages.keys()].filter((page) => page.startsWith('docs/') && !reached.has(page))).toEqual([]);
  });

  it('has the pages and headings that sources cite', () => {
    const missing = sources.flatMap(({ file, text }) =>
      findCitations(text)
        .filter(({ page, heading }) => !hasHeading(page, heading))
        .map(({ page, heading }) => `${file}: ${page}, ${heading}`),
    );
    expect(missing).toEqual([]);
  });

  it('lists each directory of the repository in the README', () => {
    const readme = pages.get('README.md') ?? '';
    const listed = [...readme.matchAll(/^\| `([a-z]+)\/[\w/-]*` \|/gm)].map(([, name]) => name);
    const directories = git('--cached', '--others', '--exclude-standard').flatMap(
      (file) => /^([a-z]\w*)\//.exec(file)?.[1] ?? [],
    );
    expect([...new Set(listed)].toSorted()).toEqual([...new Set(directories)].toSorted());
  });

  it('lets readers save only files that git and the checks ignore', () => {
    const files = [...pages].flatMap(([page, text]) =>
      page.startsWith('docs/guides/') ? codeBlocks(text).flatMap(({ file }) => file ?? []) : [],
    );
    const saved = files.filter((file) => !file.startsWith('examples/'));
    const ignored = execFileSync('git', ['check-ignore', '--no-index', ...saved], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(ignored.trim().split('\n')).toEqual(saved);
  });

  it('has a README of at most 220 lines', () => {
    expect(pages.get('README.md')?.trimEnd().split('\n').length).toBeLessThanOrEqual(220);
  });
});

describe('the comments of sources', () => {
  it('have at most 110 columns', () => {
    const faults = sources.flatMap(({ file, text }) =>
      text.split('\n').flatMap((line, index) => (isLongComment(line) ? [`${file}:${index + 1}`] : [])),
    );
    expect(faults).toEqual([]);
  });

  it.each([
    [`// ${'a'.repeat(108)}`, true],
    [` * ${'a'.repeat(108)}`, true],
    [`// ${'a'.repeat(107)}`, false],
    [`const text = '${'a'.repeat(108)}';`, false],
  ])('are checked: %s', (line, isLong) => {
    expect(isLongComment(line)).toBe(isLong);
  });
});

describe('the check of links', () => {
  it('finds the pages and headings that a comment cites', () => {
    const comment =
      'Kept for a day (docs/specification.md,\n * Error types). See docs/architecture.md, Guarantees. docs/README.md.';
    expect(findCitations(comment)).toEqual([
      { page: 'docs/specification.md', heading: 'Error types' },
      { page: 'docs/architecture.md', heading: 'Guarantees' },
      { page: 'docs/README.md', heading: undefined },
    ]);
    expect(hasHeading('docs/architecture.md', 'Guarantees')).toBe(true);
    expect(hasHeading('docs/architecture.md', 'No such heading')).toBe(false);
    expect(hasHeading('no-such-page.md', undefined)).toBe(false);
  });

  it.each([
    ['CONTRIBUTING.md', 'no-such-page.md', 'no such file'],
    ['docs/README.md', '../README.md#no-such-heading', 'no such heading'],
    ['docs/README.md', '#no-such-heading', 'no such heading'],
  ])('reports %s linking to %s: %s', (page, link, why) => {
    expect(problemOf(page, link)).toContain(why);
  });

  it.each([
    ['docs/README.md', '../README.md#run-it'],
    ['docs/README.md', '#guides'],
    ['README.md', 'docs/openapi/v1.json'],
    ['README.md', 'docs'],
  ])('accepts %s linking to %s', (page, link) => {
    expect(problemOf(page, link)).toBeUndefined();
  });

  it('reports a path that does not exist', () => {
    const [path = ''] = findPaths('Adapt `test/unit/no-such.test.ts`.\n\n```sh\ncat `lib/no-such`\n```\n');
    expect(path).toBe('test/unit/no-such.test.ts');
    expect(isPath('CONTRIBUTING.md', path)).toBe(false);
    expect(isPath('packages/aws-local/README.md', 'test/example')).toBe(true);
    expect(isPath('CONTRIBUTING.md', 'packages/sdk/src/schema.gen.ts')).toBe(true);
  });

  it('reads prose, not code', () => {
    const page =
      '[a](one.md) `[b](two.md)`\n\n```md\n[c](three.md)\n```\n\n![d](four.svg "title") [e](https://x.example/)';
    expect(relativeLinksOf(page)).toEqual(['one.md', 'four.svg']);
  });
});
