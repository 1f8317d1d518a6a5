import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readOperateArguments } from '../../../lib/operate/arguments.ts';
import { type RunbookPage, runbookPages } from '../../support/runbooks.ts';

const pages = runbookPages();
const named = pages.map((page) => [page.name, page] as const);

/** Links of a page to sections of pages, its own among them. */
const links = ({ name, text }: RunbookPage) =>
  [...text.matchAll(/\]\(([\w-]+\.md)?(?:#([\w-]+))?\)/g)].map(([, page = name, anchor]) => ({
    page,
    anchor,
  }));

/** Calls of the operator's command in a page, with what a shell would put in. */
const calls = ({ local, aws }: RunbookPage): string[] =>
  [...local, ...aws]
    .flatMap((block) => block.split('\n'))
    .filter((line) => line.startsWith('npm run operate -- '))
    .map((line) => line.slice('npm run operate -- '.length));

describe('the runbooks', () => {
  it('are all in the index', () => {
    const index = pages.find(({ name }) => name === 'README.md') ?? expect.fail('there is no index');
    const linked = new Set(links(index).map(({ page }) => page));
    expect(pages.map(({ name }) => name).filter((name) => !linked.has(name))).toEqual(['README.md']);
  });
});

describe.each(named)('the runbook %s', (_, page) => {
  it('links to sections that there are', () => {
    for (const { page: name, anchor } of links(page)) {
      const target = pages.find((one) => one.name === name);
      expect([name, target !== undefined]).toEqual([name, true]);
      if (anchor !== undefined) expect(target?.anchors).toContain(anchor);
    }
  });

  it('has no two sections of one name', () => {
    expect(new Set(page.anchors).size).toBe(page.anchors.length);
  });

  it('has blocks of commands of a known kind alone, which a shell understands', () => {
    const kinds = [...page.text.matchAll(/^```(\S.*)$/gm)].map(([, kind]) => kind);
    expect(new Set(kinds)).toEqual(new Set(kinds.filter((kind) => kind === 'sh local' || kind === 'sh aws')));
    const script = [...page.local, ...page.aws].join('\n').replaceAll(/<[^<>\n]+>/g, 'placeholder');
    const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' });
    expect([stderr, status]).toEqual(['', 0]);
  });

  it('calls commands of the tool that there are, with the parameters that they take', () => {
    for (const call of calls(page)) {
      const words = call.replaceAll(/<[^<>]+>|"[^"]*"/g, 'value').split(' ');
      expect([call, readOperateArguments(words)]).toEqual([
        call,
        expect.objectContaining({ command: expect.anything() }),
      ]);
    }
  });

  it('says to a deployment what it says to the local run, and the other way round', () => {
    for (const block of page.local)
      for (const line of block.split('\n').filter((it) => it.startsWith('npm run operate')))
        expect(line).toContain(' --local');
    for (const block of page.aws)
      for (const line of block.split('\n').filter((it) => it.startsWith('npm run operate')))
        expect(line).toContain(' --stage "$STAGE"');
  });
});
