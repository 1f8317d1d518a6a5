import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, it } from 'vitest';
import { dashboardDocument } from '../../../lib/openapi/current.ts';
import type { OpenApiDocument } from '../../../lib/openapi/openapi.ts';
import { findErrors } from './planted.ts';

/** Errors and warnings of Redocly's recommended rules. */
async function redocly(of: OpenApiDocument): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: JSON.stringify(of), absoluteRef: '/v1.json', config });
  return problems.map(
    ({ severity, ruleId, message, location }) =>
      `${severity} ${ruleId} ${location[0]?.pointer ?? ''}: ${message}`,
  );
}

it('Redocly finds no error and no warning, except one that the test adds', async () => {
  expect(await findErrors(redocly, /no-ambiguous|operation-operationId-unique/)).toEqual([]);
});

it('Redocly finds no error and no warning in the document of the dashboard', async () => {
  expect(await redocly(dashboardDocument())).toEqual([]);
});
