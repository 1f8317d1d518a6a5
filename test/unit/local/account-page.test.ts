import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ACCOUNT_PAGE, accountPage, ENFORCED } from '../../../lib/local/template/account-page.ts';
import { inertTypes, supported } from '../../../lib/local/template/supported.ts';

const ROOT = join(import.meta.dirname, '../../..');

describe('the page on how the local run and AWS differ', () => {
  it('says what the code says (npm run local-account)', () => {
    expect(readFileSync(join(ROOT, ACCOUNT_PAGE), 'utf8')).toBe(accountPage());
  });

  it('has a line for each type of resource that a template may contain', () => {
    const page = accountPage();
    for (const type of [...Object.keys(supported), ...Object.keys(inertTypes)])
      expect(page.split(`| \`${type}\` |`), type).toHaveLength(2);
  });

  it.each(ENFORCED)('names the module that enforces: $rule', ({ module }) => {
    expect(existsSync(join(ROOT, module))).toBe(true);
  });
});
