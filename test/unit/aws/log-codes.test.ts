import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LOG_CODES } from '../../../functions/aws/log-codes.ts';
import { LOGS_PAGE, logsPage } from '../../../lib/logs/page.ts';

const ROOT = join(import.meta.dirname, '../../..');
const sources = globSync('functions/**/*.ts', { cwd: ROOT }).map((path) =>
  readFileSync(join(ROOT, path), 'utf8'),
);

describe('the registry of log lines', () => {
  it.each(Object.entries(LOG_CODES))(
    'has a meaning, an action for the operator and a source for %s',
    (code, line) => {
      expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
      expect(line.message).toMatch(/^[a-z].*[^.]$/);
      expect(line.operator).toMatch(/^[A-Z].*\.$/);
      expect(sources.some((source) => source.includes(`'${code}'`))).toBe(true);
    },
  );

  it('imports nothing, so that the engine may use its codes', () => {
    expect(readFileSync(join(ROOT, 'functions/aws/log-codes.ts'), 'utf8')).not.toMatch(/^import|from '/m);
  });

  it('matches docs/reference/logs.md (npm run generate -- logs)', () => {
    expect(readFileSync(join(ROOT, LOGS_PAGE), 'utf8')).toBe(logsPage());
  });
});
