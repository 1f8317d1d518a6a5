import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const TESTS = join(import.meta.dirname, '../..');
/** Benchmarks measure time on purpose, and this file has examples. */
const EXCLUDED = /^(?:bench|unit\/architecture\/timing-hazards)/;

/** A pattern that makes a test depend on the machine's speed. */
interface Hazard {
  pattern: RegExp;
  instead: string;
}

const HAZARDS: readonly Hazard[] = [
  {
    pattern: /\bvi\.(?:waitFor|waitUntil)\(/g,
    instead: 'awaitAssertion or until: these give up after a second',
  },
  {
    pattern: /\bawait (?:sleep|delay|setTimeout)\(\s*(?:\d{3}|\d{1,3}_\d{3}|\d{4,})\b/g,
    instead: 'until: what is waited for may come later',
  },
  {
    pattern: /\bsetTimeout\(\s*(?:resolve|done|\(\) => (?:resolve|done)\(\))\s*,\s*(?:\d{3,}|\d+_\d+)\b/g,
    instead: 'until: what is waited for may come later',
  },
  {
    pattern:
      /\bexpect\((?:[^()]|\([^()]*\))*(?:performance|Date)\.now\(\)(?:[^()]|\([^()]*\))*\)\s*\.toBeLess/g,
    instead: 'a bound that is no measure of speed: a busy machine is slower',
  },
  {
    pattern: /\.listen\(\s*(?:\{\s*port:\s*)?[1-9]\d*\b/g,
    instead: 'port 0: another process may have this one',
  },
  {
    // In the same object: the settings of a run.
    pattern:
      /\{(?=[^{}]*\bATTEMPT_TIMEOUT_SECONDS: '[1-9]'|[^{}]*\battemptTimeoutSeconds: [1-9]\b)(?![^{}]*\b(?:RETRY_BASE_SECONDS|retryBaseSeconds):)[^{}]*/g,
    instead: 'a short wait between attempts too: a receiver of a busy machine misses a short deadline',
  },
];

/** Lists what makes a test fail on a slow machine, or beside another run: a line for each. */
function findTimingHazards(source: string): string[] {
  return HAZARDS.flatMap(({ pattern, instead }) =>
    [...source.matchAll(pattern)].map(({ 0: match, index }) => {
      const line = source.slice(0, index).split('\n').length;
      return `line ${line}: ${match.replaceAll(/\s+/g, ' ')}… (use ${instead})`;
    }),
  );
}

describe('the tests', () => {
  it('do not depend on the speed of the machine', () => {
    const paths = globSync('**/*.ts', { cwd: TESTS }).filter((path) => !EXCLUDED.test(path));
    expect(paths.length).toBeGreaterThan(500);
    const faults = paths.flatMap((path) =>
      findTimingHazards(readFileSync(join(TESTS, path), 'utf8')).map((hazard) => `test/${path}, ${hazard}`),
    );
    expect(faults).toEqual([]);
  });
});

describe('the search for timing hazards', () => {
  it.each([
    'await vi.waitFor(() => expect(lines).toEqual([1]));',
    'await sleep(100);',
    'await sleep(1_500);',
    'await new Promise((resolve) => setTimeout(resolve, 250));',
    'expect(Date.now() - begun).toBeLessThan(500);',
    'expect(performance.now() - (begun + 1))\n  .toBeLessThanOrEqual(50);',
    'server.listen(8080);',
    "server.listen({ port: 3000, host: '127.0.0.1' });",
    "const settings = { ATTEMPT_TIMEOUT_SECONDS: '1', GRACE_SECONDS: '30' };",
    'aPlace({ context: { attemptTimeoutSeconds: 2 } });',
  ])('finds %s', (source) => {
    expect(findTimingHazards(`const a = 1;\n${source}`)).toEqual([expect.stringMatching(/^line 2: .*use/)]);
  });

  it.each([
    'await sleep(20);',
    'await sleep(left * 1000);',
    'await until("it", () => seen, 60_000);',
    'setTimeout(() => socket.end(), 1300);',
    'expect(Date.now() - begun).toBeGreaterThanOrEqual(40);',
    'expect(wait).toBeLessThan(500);',
    "server.listen(0, '127.0.0.1');",
    'server.listen(port);',
    'aPlace({ context: { attemptTimeoutSeconds: 2, retryBaseSeconds: 0.1 } });',
    'attemptClocks({ attemptTimeoutSeconds });',
  ])('ignores %s', (source) => {
    expect(findTimingHazards(source)).toEqual([]);
  });
});
