import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readOperateArguments } from '../../../lib/operate/arguments.ts';
import { type RunbookPage, runbookPages } from '../../support/runbooks.ts';

const pages = runbookPages();
const named = pages.map((page) => [page.name, page] as const);

/** Links of a page to sections of pages, its own included. */
const links = ({ name, text }: RunbookPage) =>
  [...text.matchAll(/\]\(([\w-]+\.md)?(?:#([\w-]+))?\)/g)].map(([, page = name, anchor]) => ({
    page,
    anchor,
  }));

/** Calls of the operator's command in a page, with example values for variables. */
const calls = ({ local, aws }: RunbookPage): string[] =>
  [...local, ...aws]
    .flatMap((block) => block.split('\n'))
    .filter((line) => line.startsWith('npm run operate -- '))
    .map((line) => line.slice('npm run operate -- '.length));

describe('the runbooks', () => {
  it("raise a function's reserved concurrency before the maximum of its sources, beyond which it is throttled", () => {
    const blocks = pages.flatMap(({ aws }) => aws).filter((block) => block.includes(' MaximumConcurrency='));
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks)
      expect(block).toMatch(
        /put-function-concurrency [\s\S]*update-event-source-mapping .* MaximumConcurrency=/,
      );
  });

  it('are all in the index', () => {
    const index = pages.find(({ name }) => name === 'README.md') ?? expect.fail('there is no index');
    const linked = new Set(links(index).map(({ page }) => page));
    expect(pages.map(({ name }) => name).filter((name) => !linked.has(name))).toEqual(['README.md']);
  });
});

describe.each(named)('the runbook %s', (_, page) => {
  it('links to existing sections', () => {
    for (const { page: name, anchor } of links(page)) {
      const target = pages.find((one) => one.name === name);
      expect([name, target !== undefined]).toEqual([name, true]);
      if (anchor !== undefined) expect(target?.anchors).toContain(anchor);
    }
  });

  it('has unique section names', () => {
    expect(new Set(page.anchors).size).toBe(page.anchors.length);
  });

  it('has only blocks of known kinds, which a shell parses', () => {
    const kinds = [...page.text.matchAll(/^```(\S.*)$/gm)].map(([, kind]) => kind);
    expect(new Set(kinds)).toEqual(new Set(kinds.filter((kind) => kind === 'sh local' || kind === 'sh aws')));
    const script = [...page.local, ...page.aws].join('\n').replaceAll(/<[^<>\n]+>/g, 'placeholder');
    const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' });
    expect([stderr, status]).toEqual(['', 0]);
  });

  it('calls existing commands with their parameters', () => {
    for (const call of calls(page)) {
      const words = call.replaceAll(/<[^<>]+>|"[^"]*"/g, 'value').split(' ');
      expect([call, readOperateArguments(words)]).toEqual([
        call,
        expect.objectContaining({ command: expect.anything() }),
      ]);
    }
  });

  it('has the same steps for a deployment and for the local run', () => {
    for (const block of page.local)
      for (const line of block.split('\n').filter((it) => it.startsWith('npm run operate')))
        expect(line).toContain(' --local');
    for (const block of page.aws)
      for (const line of block.split('\n').filter((it) => it.startsWith('npm run operate')))
        expect(line).toContain(' --stage "$STAGE"');
  });
});
