import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { awaitAssertion } from 'aws-local/test/until.ts';
import { expect, it } from 'vitest';
import { type CodeBlock, codeBlocks } from '../../../support/markdown.ts';
import type { LocalService } from '../a-service.ts';
import { aReaderShell, type ReaderShell } from './reader-shell.ts';

const ROOT = join(import.meta.dirname, '../../../..');

/** Commands of the pages that are not run here, with the reason. A block is run as a whole or not at all. */
const NOT_RUN: readonly [command: RegExp, reason: string][] = [
  [/^npm ci && npm start$/, 'the suite has started the run; npm ci would replace the packages it uses'],
  [/^RETRY_BASE_SECONDS=1 RETRY_CAP_SECONDS=5 npm start$/, 'the suite starts the run with other settings'],
  [/^echo "export default .* > "lib\/stages\//, 'would leave the file of a stage in the project'],
  [/^npx cdk /, 'synth is run by test/infra, the others need an AWS account'],
  [/^aws |cdk deploy/, 'needs an AWS account'],
  [/^npm run verify -- --stage /, 'needs a deployment'],
  [/^npm run release-check -- /, 'needs a tagged release'],
];

/** Programs that run until the reader stops them, with the first output to wait for. */
const STAYS: readonly [command: RegExp, ready: RegExp][] = [
  [/^npx conversations (?:listen|forward|events tail)\b/, /Ctrl-C stops/],
  [/^node receiver\.mjs$/, /Listening at/],
  [/^node \$PROJECT\/first\.mjs$/, /conversation\.created/],
  [/^env\/bin\/python first\.py$/, /conversation\.created/],
  [/^node -e .*\.listen\(4000\)/, /^/],
  [/^node -e .*"Serving"/, /Serving/],
];

const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs/guides'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/guides/${name}`),
].map((name) => ({ name, blocks: codeBlocks(readFileSync(join(ROOT, name), 'utf8')) }));

const parseCommands = (block: string): string[] => block.split('\n').filter((line) => /^\S/.test(line));

/**
 * Keeps field names, their order, statuses and texts, and replaces every other value with `…`, as the pages
 * do.
 */
const toShape = (text: string): string =>
  text
    .replaceAll(/\b([a-z]{3})_[0-9a-f]{32}\b/g, '$1_…')
    .replaceAll(/\b(whsec|ck_live|ck_sandbox|cvt)_[\w+/=-]+/g, '$1_…')
    .replaceAll(/"(nextCursor|followCursor)":"[\w-]+"/g, '"$1":"…"')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '…')
    .replaceAll(/\b\d\d:\d\d:\d\d\.\d{3}\b/g, '…')
    .replaceAll(/\s+(?:\d+(?:\.\d+)?|…) m?s\b/g, ' … s')
    .replaceAll(/"durationMs":\d+/g, '"durationMs":…')
    .replaceAll(/localhost:\d+/g, 'localhost:…')
    // Columns are as wide as their content.
    .replaceAll(/ {3,}/g, '   ');

const toJsonShape = (text: string): string => toShape(JSON.stringify(JSON.parse(text)));

/** Pages that take long, or that build and install a package: `npm run test:deep` follows them. */
const LONG = ['recovery', 'typescript-client', 'python-client'] as const;
type LongGuide = (typeof LONG)[number];
const pathOf = (guide: LongGuide): string => `docs/guides/${guide}.md`;

/** Follows the README and the guides from the first command to the last. */
export function documents(service: LocalService): void {
  followPages(service, ({ name }) => !LONG.map(pathOf).includes(name));

  it.each(NOT_RUN)('%s is not run: %s', (command) => {
    const commands = PAGES.flatMap(({ blocks }) => blocks.flatMap(({ text }) => parseCommands(text)));
    expect(commands.some((line) => command.test(line))).toBe(true);
  });
}

/** Follows one of the long guides. */
export const longGuide = (service: LocalService, guide: LongGuide): void =>
  followPages(service, ({ name }) => name === pathOf(guide));

const followPages = (service: LocalService, isFollowed: (page: { name: string }) => boolean): void =>
  it.each(PAGES.filter(isFollowed))('$name prints what it shows', async ({ blocks }) =>
    followPage(await aReaderShell(service.run.directory), blocks, () => service.run.output()),
  );

/**
 * Saves the files of a page, runs its commands, and compares their output with what it shows.
 * @param printed the output of the local run
 */
export async function followPage(
  shell: ReaderShell,
  blocks: readonly CodeBlock[],
  printed: () => string,
): Promise<void> {
  let last: { commands: string; output: string } | undefined;
  // Nothing here shows what follows commands that need AWS.
  let isRun = true;
  for (const { language, file, text } of blocks) {
    if (file !== undefined) await shell.save(file, text);
    else if (language === 'sh') {
      isRun = !parseCommands(text).some(isNotRun);
      last = await runBlock(shell, text);
    } else if (!isRun) continue;
    // Deliveries and checks take a moment, so a command that reads is repeated.
    else if (language === 'json')
      await awaitAssertion(async () => {
        const output = await readOutput(shell, last);
        expect(toJsonShape(output)).toBe(toJsonShape(text));
      });
    else if (language === 'text')
      await awaitAssertion(async () => {
        const outputs = [await readOutput(shell, last), await shell.started(), printed()];
        expect(outputs.map(toShape).join('\n')).toContain(toShape(text.trimEnd()));
      });
  }
}

const isNotRun = (line: string): boolean => NOT_RUN.some(([command]) => command.test(line));

/** @returns the commands with their output; undefined for those that are not run, or keep running */
async function runBlock(shell: ReaderShell, block: string) {
  const lines = parseCommands(block);
  const skipped = lines.filter(isNotRun);
  if (skipped.length > 0) {
    expect(lines).toEqual(skipped);
    return undefined;
  }
  const stays = lines.at(-1) ?? '';
  const ready = STAYS.find(([command]) => command.test(stays))?.[1];
  if (ready === undefined) {
    const output = await shell.run(block);
    expect(output, block).not.toContain('"error":{');
    return { commands: block, output };
  }
  if (lines.length > 1) await shell.run(block.slice(0, block.lastIndexOf(stays)));
  await shell.start(stays, ready);
  return undefined;
}

/** The current output of the commands that only read. */
async function readOutput(shell: ReaderShell, last: { commands: string; output: string } | undefined) {
  if (last === undefined) return '';
  if (
    / -X (?:POST|PATCH|DELETE) |npm run|npx conversations (?!events|why|endpoints (?:list|show)|api (?:--sandbox )?GET)/.test(
      last.commands,
    )
  )
    return last.output;
  return shell.run(last.commands);
}
