import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { checkRelease } from '../support/release-check.ts';

/** Milliseconds for two syntheses, on a busy machine. */
const PATIENCE = 600_000;
const listTrees = () => execFileSync('git', ['worktree', 'list', '--porcelain'], { encoding: 'utf8' });

describe('npm run release-check', () => {
  it(
    'compares a commit with the working tree, and removes its checkout',
    async () => {
      const before = listTrees();
      const { code, printed } = await checkRelease('HEAD', '--stage', 'dev', '--json');
      expect(JSON.parse(printed)).toMatchObject({ from: 'HEAD', to: 'the working tree', passed: code === 0 });
      expect(listTrees()).toBe(before);
    },
    PATIENCE,
  );

  it(
    'says why a commit cannot be synthesized',
    async () => {
      const { code, errors } = await checkRelease('HEAD', '--stage', 'none');
      expect(errors).toMatch(
        /\n✗ (?:HEAD|the working tree) cannot be synthesized with -c stage=none:\n\n-c stage=none: there is no/,
      );
      expect(code).toBe(1);
    },
    PATIENCE,
  );
});
