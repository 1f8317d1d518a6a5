import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { currentDocument, dashboardDocument } from '../../../lib/openapi/current.ts';

/** Errors and warnings of Redocly's recommended rules. */
async function lint(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: '/v1.json',
    config,
  });
  return problems.map(
    ({ severity, ruleId, message, location }) =>
      `${severity} ${ruleId} ${location[0]?.pointer ?? ''}: ${message}`,
  );
}

describe('Redocly', () => {
  it.each([
    ['public document', currentDocument()],
    ["dashboard's document", dashboardDocument()],
  ])('finds no error and no warning in the %s', async (_, document) => {
    expect(await lint(document)).toEqual([]);
  });

  it('finds an operation that repeats the id of another', async () => {
    const document = structuredClone(currentDocument());
    const operation = document.paths['/api/v1/tickets']?.get;
    if (operation) operation.operationId = 'readTicket';
    expect((await lint(document)).join()).toContain('operation-operationId-unique');
  });
});
