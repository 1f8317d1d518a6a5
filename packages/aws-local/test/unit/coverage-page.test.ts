import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COVERAGE_PAGE, coveragePage, ENFORCED } from '../../src/template/coverage-page.ts';
import { inertTypes, supported } from '../../src/template/supported.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the coverage page', () => {
  it('matches the code (npm run coverage -w aws-local)', () => {
    expect(readFileSync(join(ROOT, COVERAGE_PAGE), 'utf8')).toBe(coveragePage());
  });

  it('has a line for each supported type of resource', () => {
    const page = coveragePage();
    for (const type of [...Object.keys(supported), ...Object.keys(inertTypes)])
      expect(page.split(`| \`${type}\` |`), type).toHaveLength(2);
  });

  it.each(ENFORCED)('names the module that enforces: $rule', ({ module }) => {
    expect(existsSync(join(ROOT, module))).toBe(true);
  });
});
