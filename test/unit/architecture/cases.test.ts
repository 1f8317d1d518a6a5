import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MORE_CASES } from '../../support/cases.ts';

const ROOT = join(import.meta.dirname, '../../..');

it('npm run test:deep runs all cases of each test that has fewer in npm test', () => {
  const callers = globSync('{test,packages/*/test}/**/*.test.ts', { cwd: ROOT }).filter((path) =>
    /import \{[^}]*\bcasesOf\b/.test(readFileSync(join(ROOT, path), 'utf8')),
  );
  expect(callers.length).toBeGreaterThan(0);
  const listed = Object.values(MORE_CASES).flatMap((files) => globSync(files, { cwd: ROOT }));
  expect(callers.toSorted()).toEqual(listed.toSorted());
});
