import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { UNREADABLE_ROWS } from '../../../functions/aws/metric-names.ts';
import { publishMetrics } from '../../../functions/aws/metrics.ts';
import { reportUnreadable } from '../../../functions/aws/open-tables.ts';
import { capturedOutput } from '../workers/a-worker.ts';

describe('a stored row that cannot be read', () => {
  it('is logged by its keys and counted for its alarm', async () => {
    const output = capturedOutput();
    reportUnreadable({ pk: 'org_x#webhooks', sk: 'whk_x', error: new Error('no') });
    publishMetrics();

    expect(output.lines[0]).toMatchObject({
      level: 'ERROR',
      code: 'ROW_UNREADABLE',
      pk: 'org_x#webhooks',
      sk: 'whk_x',
    });
    expect(output.metric(UNREADABLE_ROWS)).toBe(1);
  });

  it('is reported by every table of every function that is read through a client', () => {
    const silent = globSync('functions/{api,workers}/**/*.ts', {
      cwd: `${import.meta.dirname}/../../..`,
    }).flatMap((file) => {
      const text = readFileSync(`${import.meta.dirname}/../../../${file}`, 'utf8');
      const tables = text.match(/\{\s*client\b[^{}]*\bname: environment\.\w+_TABLE\b[^{}]*\}/g) ?? [];
      return tables
        .filter((table) => !table.includes('reportUnreadable'))
        .map((table) => `${file}: ${table}`);
    });
    expect(silent).toEqual([]);
  });
});
