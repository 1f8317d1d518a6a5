import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { plain } from 'terminal/paint.ts';
import { describe, expect, it } from 'vitest';
import { readVerifyArguments } from '../../../../lib/operate/verify/arguments.ts';
import { type Check, CheckFailed, CheckSkipped } from '../../../../lib/operate/verify/check.ts';
import { VERIFY_ACTIONS } from '../../../../lib/operate/verify/command.ts';
import { createRemovals } from '../../../../lib/operate/verify/removals.ts';
import { runChecks } from '../../../../lib/operate/verify/run-checks.ts';
import { renderResult, renderSummary } from '../../../../lib/operate/verify/view.ts';
import { runCommandLine, usageError } from '../../../support/command-line.ts';

const fails = (error: Error) => async () => {
  throw error;
};
const CHECKS: Check[] = [
  { name: 'One', run: async () => 'fine' },
  { name: 'Two', run: fails(new CheckFailed('first thing', 'second thing')) },
  { name: 'Three', run: fails(new CheckSkipped('needs a receiver')) },
  { name: 'Four', run: fails(Object.assign(new Error('not allowed'), { name: 'AccessDenied' })) },
];

const run = (checks: readonly Check[], signal = new AbortController().signal) => {
  let time = 0;
  const now = () => {
    time += 250;
    return time;
  };
  return runChecks(checks, { signal, now, onStart: () => undefined, onResult: () => undefined });
};

describe('a run of checks', () => {
  it('continues after a failure, and separates failed checks from those that could not run', async () => {
    expect(await run(CHECKS)).toEqual([
      { name: 'One', status: 'passed', milliseconds: 250, detail: 'fine', findings: [] },
      expect.objectContaining({ name: 'Two', status: 'failed', findings: ['first thing', 'second thing'] }),
      expect.objectContaining({ name: 'Three', status: 'skipped', detail: 'needs a receiver' }),
      expect.objectContaining({ name: 'Four', status: 'failed', findings: ['AccessDenied: not allowed'] }),
    ]);
  });

  it('says for a failed connection what to do about it', async () => {
    const error = new TypeError('fetch failed', {
      cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }),
    });
    const [result] = await run([{ name: 'One', run: fails(error) }]);
    expect(result?.findings).toEqual([expect.stringContaining('nothing listens there')]);
  });

  it('skips the remaining checks when the operator stops it', async () => {
    const stopping = new AbortController();
    const wait = async () => {
      stopping.abort();
      stopping.signal.throwIfAborted();
      return '';
    };
    const results = await run([{ name: 'Wait', run: wait }, ...CHECKS], stopping.signal);
    expect(new Set(results.map(({ status, detail }) => `${status} ${detail}`))).toEqual(
      new Set(['skipped interrupted']),
    );
  });
});

describe('the report of a run', () => {
  it('has a line for each check, with its problems below', async () => {
    const lines = (await run(CHECKS)).map((result) => renderResult(result, plain)).join('\n');
    expect(lines.split('\n')).toEqual([
      expect.stringMatching(/^ {2}✓ One {33} +250 ms {3}fine$/),
      expect.stringMatching(/^ {2}✗ Two {33} +250 ms$/),
      '      first thing',
      '      second thing',
      expect.stringMatching(/^ {2}– Three +skipped: needs a receiver$/),
      expect.stringMatching(/^ {2}✗ Four {32} +250 ms$/),
      '      AccessDenied: not allowed',
    ]);
  });

  it("contains no control characters of the API's answers", () => {
    const text = renderResult(
      { name: 'One', status: 'failed', milliseconds: 1, detail: '', findings: ['\u001b[2J'] },
      plain,
    );
    expect(text).not.toContain('\u001b');
  });

  it('ends with the names of the failed checks', async () => {
    const results = await run(CHECKS);
    expect(renderSummary(results, 1500, plain)).toBe(
      '  ✗ 2 failed, 1 passed, 1 skipped in 1.5 s: Two · Four',
    );
    expect(renderSummary(results.slice(0, 1), 1500, plain)).toBe('  ✓ 1 passed in 1.5 s.');
  });
});

describe('cleanups', () => {
  it('run in reverse order, each once, and continue after a failure', async () => {
    const removals = createRemovals();
    const removed: string[] = [];
    removals.add('organization', async () => void removed.push('organization'));
    removals.add('sandbox', fails(new Error('throttled')));
    removals.add('key', async () => void removed.push('key'));
    await expect(removals.removeAll()).rejects.toThrow('sandbox was not removed: Error: throttled');
    expect(removed).toEqual(['key', 'organization']);
    expect(await removals.removeAll()).toEqual([]);
  });
});

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
