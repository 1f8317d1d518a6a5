import { plain } from 'terminal/paint.ts';
import { describe, expect, it } from 'vitest';
import { type Check, CheckFailed, CheckSkipped } from '../../../../lib/operate/verify/check.ts';
import { createRemovals } from '../../../../lib/operate/verify/removals.ts';
import { runChecks } from '../../../../lib/operate/verify/run-checks.ts';
import { renderResult, renderSummary } from '../../../../lib/operate/verify/view.ts';

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
