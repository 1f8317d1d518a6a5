import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readVerifyArguments } from '../../../../lib/operate/verify/arguments.ts';
import { VERIFY_ACTIONS } from '../../../../lib/operate/verify/command.ts';
import { runCommandLine, usageError } from '../../../support/command-line.ts';

const read = (text: string) => readVerifyArguments(text.split(' '));

describe('the command line of a verification', () => {
  it('names a deployment and the values for the checks', () => {
    expect(read('--stage prod --receiver https://example.com/hooks --token abc --wait 5 --json')).toEqual({
      stage: 'prod',
      receiver: 'https://example.com/hooks',
      token: 'abc',
      waitMs: 5_000,
      json: true,
    });
    expect(read('--local')).toEqual({ local: true, waitMs: 20_000 });
  });

  it('shows help with --help, and when it is empty', () => {
    expect(runCommandLine(() => read('--local --help')).code).toBe(0);
    expect(runCommandLine(() => readVerifyArguments([])).code).toBe(0);
  });

  it.each([
    ['--local --stage prod', "cannot be used with option '--local'"],
    ['--local --receiver http://example.com/', 'It takes an https URL.'],
    ['--local --receiver example.com', 'It takes an https URL.'],
    ['--local --wait 0', '--wait'],
    ['--local --wait soon', '--wait'],
    ['--local --force', '--force'],
    ['--local status', 'status'],
  ])('is refused when it is "%s"', (text, message) => {
    expect(usageError(() => read(text))).toContain(message);
  });

  it('has every flag in its help', () => {
    const { output } = runCommandLine(() => readVerifyArguments([]));
    for (const flag of ['local', 'stage', 'outputs', 'region', 'receiver', 'token', 'wait', 'json', 'help'])
      expect(output).toContain(`--${flag} `);
  });

  it('needs the IAM actions that the runbook names', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/runbooks/README.md'), 'utf8');
    const needed = VERIFY_ACTIONS.map((action) => `\`${action}\``).join(', ');
    expect(page).toContain(`| \`npm run verify\` | ${needed} |`);
  });
});
