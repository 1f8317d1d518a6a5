import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../lib/operate/commands.ts';
import { createProgram } from '../../../packages/cli/src/program.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = readFileSync(join(ROOT, 'docs/reference/command-line.md'), 'utf8');

const helpOf = (program: string): string =>
  execFileSync(process.execPath, [join(ROOT, `bin/${program}.ts`), '--help'], { encoding: 'utf8' });

const sectionOf = (title: string): string =>
  PAGE.split(/^## /m).find((section) => section.startsWith(`${title}\n`)) ??
  expect.fail(`there is no ${title}`);
const flagsIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].flatMap(([row]) => row.match(/--[a-z-]+/g) ?? []);

/** The commands of `conversations`, with their names after it. */
function commandsOf(
  command: CommandUnknownOpts,
  path: readonly string[] = [],
): [string, CommandUnknownOpts][] {
  if (command.commands.length === 0) return [[path.join(' '), command]];
  return command.commands.flatMap((each) => commandsOf(each, [...path, each.name()]));
}

const stream = new PassThrough();
const { program } = createProgram({
  variables: {},
  cwd: ROOT,
  stdin: stream,
  stdout: stream,
  stderr: stream,
  signal: new AbortController().signal,
});
/** Explained once for all commands. */
const COMMON = ['--base-url', '--sandbox', '--json'];

describe('the command line reference', () => {
  it.each(['operate', 'verify', 'release-check'])('lists each flag of npm run %s', (program) => {
    const listed = flagsIn(sectionOf(`npm run ${program}`), /^\| (?:`--[^`]+`(?:, )?)+ \|/gm);
    const explained = flagsIn(helpOf(program), /^ {2}(?:-\w, )?--[a-z-]+/gm).filter(
      (flag) => flag !== '--help',
    );
    expect(listed.toSorted()).toEqual(explained.toSorted());
  });

  it('lists each command of npm run operate', () => {
    const listed = [
      ...sectionOf('npm run operate').matchAll(/^\| `([a-z][a-z-]*(?: [a-z-]+)?)(?: <.*)?` \|/gm),
    ];
    expect(listed.map(([, name]) => name)).toEqual(COMMANDS.map(({ name }) => name));
  });

  it('lists each command of conversations', () => {
    const listed = [...sectionOf('conversations').matchAll(/^\| `([a-z]+(?: [a-z]+)?)(?: <.*)?` \|/gm)];
    expect(listed.map(([, name]) => name)).toEqual(commandsOf(program).map(([name]) => name));
  });

  it.each(
    commandsOf(program).filter(([, { options }]) => options.some(({ long }) => !COMMON.includes(long ?? ''))),
  )('lists each flag of conversations %s', (name, command) => {
    const listed = flagsIn(sectionOf(`conversations ${name}`), /^\| (?:`--[^`]+`(?:, )?)+ \|/gm);
    const flags = command.options.map(({ long }) => long ?? '');
    expect([...new Set([...listed, ...COMMON])].toSorted()).toEqual(
      [...new Set([...flags, ...COMMON])].toSorted(),
    );
  });
});
