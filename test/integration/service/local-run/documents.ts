import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { awaitAssertion } from 'aws-local/test/until.ts';
import { expect, it } from 'vitest';
import { codeBlocks } from '../../../support/markdown.ts';
import type { LocalService } from '../a-service.ts';
import { aReaderShell, type ReaderShell } from './reader-shell.ts';

const ROOT = join(import.meta.dirname, '../../../..');

/** Commands of the pages that are not run here, with the reason. A block is run as a whole or not at all. */
const NOT_RUN: readonly [command: RegExp, reason: string][] = [
  [/^npm ci && npm start$/, 'the suite has started the run; npm ci would replace the packages it uses'],
  [/^RETRY_BASE_SECONDS=1 RETRY_CAP_SECONDS=5 npm start$/, 'the suite starts the run with other settings'],
  [/^npx cdk /, 'synth is run by test/infra, the others need an AWS account'],
  [/^aws /, 'needs an AWS account'],
  [/^npm run verify -- --stage /, 'needs a deployment'],
];

/** Programs that run until the reader stops them, with their first output. */
const STAYS: readonly [command: RegExp, ready: RegExp][] = [
  [/^npm run listen\b/, /Ctrl-C stops/],
  [/^npm run forward /, /Ctrl-C stops/],
  [/^node receiver\.mjs$/, /Listening at/],
  [/^node -e .*\.listen\(4000\)/, /^/],
];

const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs/guides')).map((name) => `docs/guides/${name}`),
].map((name) => ({ name, blocks: codeBlocks(readFileSync(join(ROOT, name), 'utf8')) }));

const commandsOf = (block: string): string[] => block.split('\n').filter((line) => /^\S/.test(line));

/**
 * Leaves field names, their order, statuses and texts, and puts `…` for what is another value each time, as
 * the pages do.
 */
const shapeOf = (text: string): string =>
  text
    .replaceAll(/\b([a-z]{3})_[0-9a-f]{32}\b/g, '$1_…')
    .replaceAll(/\b(whsec|ck_live|ck_sandbox|cvt)_[\w+/=-]+/g, '$1_…')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '…')
    .replaceAll(/\b\d\d:\d\d:\d\d\.\d{3}\b/g, '…')
    .replaceAll(/\s+(?:\d+(?:\.\d+)?|…) m?s\b/g, ' … s')
    .replaceAll(/"durationMs":\d+/g, '"durationMs":…')
    .replaceAll(/localhost:\d+/g, 'localhost:…');

const jsonShapeOf = (text: string): string => shapeOf(JSON.stringify(JSON.parse(text)));

/** The README and the guides, each followed from its first command to its last. */
export function documents(service: LocalService): void {
  it.each(PAGES)('$name prints what it says', async ({ blocks }) => {
    const shell = await aReaderShell(service.run.directory);
    let last: { commands: string; output: string } | undefined;
    for (const { language, file, text } of blocks) {
      if (file !== undefined) await shell.save(file, text);
      else if (language === 'sh') last = await runBlock(shell, text);
      // Deliveries and checks take a moment: a reader who is faster than the service reads once more.
      else if (language === 'json')
        await awaitAssertion(async () => {
          const output = await outputOf(shell, last);
          expect(jsonShapeOf(output)).toBe(jsonShapeOf(text));
        });
      else if (language === 'text')
        await awaitAssertion(async () => {
          const outputs = [await outputOf(shell, last), await shell.started(), service.run.output()];
          expect(outputs.map(shapeOf).join('\n')).toContain(shapeOf(text.trimEnd()));
        });
    }
  });

  it.each(NOT_RUN)('%s is not run: %s', (command) => {
    const commands = PAGES.flatMap(({ blocks }) => blocks.flatMap(({ text }) => commandsOf(text)));
    expect(commands.some((line) => command.test(line))).toBe(true);
  });
}

/** @returns the commands with what they printed; undefined where they are not run, or run on */
async function runBlock(shell: ReaderShell, block: string) {
  const lines = commandsOf(block);
  const skipped = lines.filter((line) => NOT_RUN.some(([command]) => command.test(line)));
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

/** What commands print now, where they only read. */
async function outputOf(shell: ReaderShell, last: { commands: string; output: string } | undefined) {
  if (last === undefined) return '';
  if (/ -X (?:POST|PATCH|DELETE) |npm run/.test(last.commands)) return last.output;
  return shell.run(last.commands);
}
