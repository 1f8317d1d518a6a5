import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { givenContext } from '../../../lib/infra/context.ts';

/** A file of the CDK command, for values too long for a variable. */
function fileWith(values: Record<string, unknown>): string {
  const directory = mkdtempSync(join(tmpdir(), 'context-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'context.json');
  writeFileSync(file, JSON.stringify(values));
  return file;
}

describe('the context of the CDK command', () => {
  it('is read from a variable, and from a file where it is too long', () => {
    const context = givenContext({
      CDK_CONTEXT_JSON: JSON.stringify({ stage: 'dev', waf: 'true' }),
      CONTEXT_OVERFLOW_LOCATION_ENV: fileWith({ stage: 'prod', apiRate: 200 }),
    });
    expect(['stage', 'waf', 'apiRate', 'apiBurst'].map((name) => context.tryGetContext(name))).toEqual([
      'prod',
      'true',
      200,
      undefined,
    ]);
  });

  it('is empty outside the command', () => {
    expect(givenContext({}).tryGetContext('stage')).toBeUndefined();
  });
});
