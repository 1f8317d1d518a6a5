import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { describe, expect, it } from 'vitest';
import { currentDocument } from '../../../lib/openapi/current.ts';
import type { OpenApiDocument } from '../../../lib/openapi/openapi.ts';

const document = currentDocument();

/** Errors and warnings of Redocly's recommended rules. */
async function redocly(of: OpenApiDocument): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: JSON.stringify(of), absoluteRef: '/v1.json', config });
  return problems.map(
    ({ severity, ruleId, message, location }) =>
      `${severity} ${ruleId} ${location[0]?.pointer ?? ''}: ${message}`,
  );
}

/** Errors and warnings of Spectral's recommended rules for OpenAPI. */
async function spectral(of: OpenApiDocument): Promise<string[]> {
  const linter = new spectralCore.Spectral();
  // The two packages declare their types separately.
  linter.setRuleset({ extends: [[rulesets.oas as unknown as RulesetDefinition, 'recommended']] });
  const results = await linter.run(structuredClone(of) as unknown as Record<string, unknown>);
  return results.map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`);
}

/** The operation with the planted error, or the one whose id it repeats. */
const PLANTED = /api~1v1~1tickets|\/api\/v1\/tickets/;

/** The document with an operation that breaks a rule of each linter. */
function withErrors(): OpenApiDocument {
  const copy = structuredClone(document);
  const operation = copy.paths['/api/v1/tickets']?.get;
  if (operation) operation.operationId = 'readTicket';
  return copy;
}

describe.each([
  ['Redocly', redocly, /no-ambiguous|operation-operationId-unique/],
  ['Spectral', spectral, /operation-operationId-unique/],
] as const)('%s', (_, lint, rule) => {
  it('finds no error and no warning, except one that the test adds', async () => {
    const found = await lint(withErrors());
    expect(found).not.toEqual([]);
    // At the planted place alone: an error of the same rule elsewhere is a finding.
    expect(found.filter((problem) => !rule.test(problem) || !PLANTED.test(problem))).toEqual([]);
  });
});
