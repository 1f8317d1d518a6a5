import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../../lib/operate/errors.ts';
import { readVerifyArguments, usage } from '../../../../lib/operate/verify/arguments.ts';
import { VERIFY_ACTIONS } from '../../../../lib/operate/verify/command.ts';

const read = (text: string) => readVerifyArguments(text.split(' '));

describe('the command line of a verification', () => {
  it('names a deployment and what the checks need', () => {
    expect(read('--stage prod --receiver https://example.com/hooks --token abc --wait 5 --json')).toEqual({
      local: false,
      stage: 'prod',
      receiver: 'https://example.com/hooks',
      token: 'abc',
      waitMs: 5_000,
      json: true,
    });
    expect(read('--local')).toEqual({ local: true, json: false, waitMs: 20_000 });
  });

  it('asks for help with --help, and when it says nothing', () => {
    expect(read('--local --help')).toBe('help');
    expect(readVerifyArguments([])).toBe('help');
  });

  it.each([
    ['--local --stage prod', 'Either --local or --stage.'],
    ['--local --receiver http://example.com/', '--receiver must be an https URL.'],
    ['--local --receiver example.com', '--receiver must be an https URL.'],
    ['--local --wait 0', '--wait'],
    ['--local --wait soon', '--wait'],
    ['--local --force', '--force'],
    ['--local status', 'status'],
  ])('is refused when it says "%s"', (text, message) => {
    expect(() => read(text)).toThrow(UsageError);
    expect(() => read(text)).toThrow(message);
  });

  it('has every flag in its help', () => {
    for (const flag of ['local', 'stage', 'outputs', 'region', 'receiver', 'token', 'wait', 'json', 'help'])
      expect(usage()).toContain(`--${flag} `);
  });

  it('needs the IAM actions that the runbook names', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/runbooks/README.md'), 'utf8');
    const needed = VERIFY_ACTIONS.map((action) => `\`${action}\``).join(', ');
    expect(page).toContain(`| \`npm run verify\` | ${needed} |`);
  });
});
