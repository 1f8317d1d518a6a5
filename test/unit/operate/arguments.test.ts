import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readOperateArguments, usage } from '../../../lib/operate/arguments.ts';
import { COMMANDS } from '../../../lib/operate/commands.ts';
import { UsageError } from '../../../lib/operate/errors.ts';

const read = (text: string) => readOperateArguments(text.split(' '));

describe('the command line', () => {
  it('names a command, its parameters and flags, in any order', () => {
    expect(read('endpoint --stage prod show org_1 --json whk_1')).toMatchObject({
      command: { name: 'endpoint show' },
      values: ['org_1', 'whk_1'],
      flags: { stage: 'prod', json: true, yes: false, local: false, max: 1000, ids: [] },
    });
    expect(read('dead-letters redrive meter --local --yes --max 5 --id a --id b')).toMatchObject({
      values: ['meter'],
      flags: { local: true, yes: true, max: 5, ids: ['a', 'b'] },
    });
  });

  it.each(['--help', 'status --help'])('asks for help with %s', (text) => {
    expect(read(text)).toBe('help');
  });

  it('asks for help when it says nothing', () => {
    expect(readOperateArguments([])).toBe('help');
  });

  it.each([
    ['stat', 'There is no command "stat".'],
    ['dead-letters', 'There is no command'],
    ['status meter', 'Usage: status'],
    ['dead-letters list', 'Usage: dead-letters list <queue>'],
    ['status --force', '--force'],
    ['status --local --stage prod', 'Either --local or --stage.'],
    ['dead-letters list meter --max 0', '--max'],
    ['dead-letters list meter --max ten', '--max'],
  ])('is refused when it says "%s"', (text, message) => {
    expect(() => read(text)).toThrow(UsageError);
    expect(() => read(text)).toThrow(message);
  });
});

describe('help', () => {
  it('names every command', () => {
    for (const { name, summary } of COMMANDS) {
      expect(usage()).toContain(name);
      expect(usage()).toContain(summary);
    }
  });
});

describe('the runbooks', () => {
  it('say for every command which IAM actions it needs', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/runbooks/README.md'), 'utf8');
    for (const { name, actions } of COMMANDS) {
      const needed = [...new Set(actions)].map((action) => `\`${action}\``).join(', ');
      expect(page).toContain(`| \`${name}\` | ${needed} |`);
    }
  });
});
