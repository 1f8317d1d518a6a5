import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../lib/operate/commands.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = readFileSync(join(ROOT, 'docs/reference/command-line.md'), 'utf8');

const helpOf = (program: string): string =>
  execFileSync(process.execPath, [join(ROOT, `bin/${program}.ts`), '--help'], { encoding: 'utf8' });

const sectionOf = (title: string): string =>
  PAGE.split(/^## /m).find((section) => section.startsWith(`${title}\n`)) ??
  expect.fail(`there is no ${title}`);
const flagsIn = (text: string, each: RegExp): string[] =>
  [...text.matchAll(each)].flatMap(([row]) => row.match(/--[a-z-]+/g) ?? []);

describe('the command line reference', () => {
  it.each(['listen', 'forward', 'operate', 'verify'])('lists each flag of npm run %s', (program) => {
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
});
