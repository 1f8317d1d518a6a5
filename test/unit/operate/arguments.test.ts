import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readOperateArguments } from '../../../lib/operate/arguments.ts';
import { COMMANDS } from '../../../lib/operate/commands.ts';
import { runCommandLine, usageError } from '../../support/command-line.ts';

const read = (text: string) => readOperateArguments(text.split(' '));

describe('the command line', () => {
  it('names a command, its parameters and flags, in any order', () => {
    expect(read('endpoint --stage prod show org_1 --json whk_1')).toMatchObject({
      command: { name: 'endpoint show' },
      values: ['org_1', 'whk_1'],
      flags: { stage: 'prod', json: true, max: 1000, ids: [] },
    });
    expect(read('status --local').flags).not.toHaveProperty('yes');
    expect(read('dead-letters redrive meter --local --yes --max 5 --id a --id b')).toMatchObject({
      values: ['meter'],
      flags: { local: true, yes: true, max: 5, ids: ['a', 'b'] },
    });
  });

  it.each(['--help', 'status --help'])('shows help with %s', (text) => {
    const { code, output } = runCommandLine(() => read(text));
    expect(code).toBe(0);
    expect(output).toContain('--stage');
  });

  it('shows help when it is empty', () => {
    expect(runCommandLine(() => readOperateArguments([]))).toMatchObject({
      code: 0,
      output: expect.stringContaining('--stage'),
    });
  });

  it.each([
    ['stat', "unknown command 'stat'"],
    ['dead-letters lst', "unknown command 'lst'"],
    ['status meter', 'too many arguments'],
    ['dead-letters list', "missing required argument 'queue'"],
    ['status --force', '--force'],
    ['status --local --stage prod', "cannot be used with option '--local'"],
    ['host block a.example --local --reason --yes', '--reason'],
    ['dead-letters list meter --max 0', '--max'],
    ['dead-letters list meter --max ten', '--max'],
  ])('is refused when it is "%s"', (text, message) => {
    expect(usageError(() => read(text))).toContain(message);
  });
});

describe('help', () => {
  it('names every command', () => {
    const output = runCommandLine(() => readOperateArguments(['--help'])).output.replaceAll(/\s+/g, ' ');
    for (const { name, parameters, summary } of COMMANDS)
      expect(output).toContain([name, ...parameters.map((it) => `<${it}>`), summary].join(' '));
  });
});

describe('the runbooks', () => {
  it('state for every command which IAM actions it needs', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/runbooks/README.md'), 'utf8');
    for (const { name, actions } of COMMANDS) {
      const needed = [...new Set(actions)].map((action) => `\`${action}\``).join(', ');
      expect(page).toContain(`| \`${name}\` | ${needed} |`);
    }
  });
});
