import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTimingHazards } from './timing-hazards.ts';

const TESTS = join(import.meta.dirname, '../..');
/** Benchmarks measure time on purpose, and this file has examples. */
const EXCLUDED = /^(?:bench|unit\/architecture\/timing-hazards)/;

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
