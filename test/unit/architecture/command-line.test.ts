import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FORWARD_USAGE } from '../../../lib/cli/forward/arguments.ts';
import { LISTEN_USAGE } from '../../../lib/cli/listen/arguments.ts';
import { usage as operateUsage } from '../../../lib/operate/arguments.ts';
import { COMMANDS } from '../../../lib/operate/commands.ts';
import { usage as verifyUsage } from '../../../lib/operate/verify/arguments.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/reference/command-line.md'), 'utf8');

const sectionOf = (title: string): string =>
  PAGE.split(/^## /m).find((section) => section.startsWith(`${title}\n`)) ??
  expect.fail(`there is no ${title}`);
const flagsIn = (text: string, each: RegExp): string[] =>
  [...text.matchAll(each)].flatMap(([row]) => row.match(/--[a-z-]+/g) ?? []);

describe('the command line reference', () => {
  it.each([
    ['npm run listen', LISTEN_USAGE],
    ['npm run forward', FORWARD_USAGE],
    ['npm run operate', operateUsage()],
    ['npm run verify', verifyUsage()],
  ])('lists each flag of %s', (title, usage) => {
    const listed = flagsIn(sectionOf(title), /^\| (?:`--[^`]+`(?:, )?)+ \|/gm);
    const explained = flagsIn(usage, /^ {2}--[a-z-]+/gm).filter((flag) => flag !== '--help');
    expect(listed.toSorted()).toEqual(explained.toSorted());
  });

  it('lists each command of npm run operate', () => {
    const listed = [
      ...sectionOf('npm run operate').matchAll(/^\| `([a-z][a-z-]*(?: [a-z-]+)?)(?: <.*)?` \|/gm),
    ];
    expect(listed.map(([, name]) => name)).toEqual(COMMANDS.map(({ name }) => name));
  });
});
