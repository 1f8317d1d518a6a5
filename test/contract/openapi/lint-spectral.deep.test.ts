import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { expect, it } from 'vitest';
import type { OpenApiDocument } from '../../../lib/openapi/openapi.ts';
import { findErrors } from './planted.ts';

/** Errors and warnings of Spectral's recommended rules for OpenAPI. */
async function spectral(of: OpenApiDocument): Promise<string[]> {
  const linter = new spectralCore.Spectral();
  // The two packages declare their types separately.
  linter.setRuleset({ extends: [[rulesets.oas as unknown as RulesetDefinition, 'recommended']] });
  const results = await linter.run(structuredClone(of) as unknown as Record<string, unknown>);
  return results.map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`);
}

it('Spectral finds no error and no warning, except one that the test adds', async () => {
  expect(await findErrors(spectral, /operation-operationId-unique/)).toEqual([]);
});
