import { expect, it } from 'vitest';
import { ACCESS_LOG } from '../../lib/infra/api.ts';

/**
 * The gateway's own fields of a request. Paths, queries, headers and bodies come from callers; a resource's
 * path is the template's.
 */
const OF_THE_GATEWAY = new Set([
  'extendedRequestId',
  'httpMethod',
  'identity.sourceIp',
  'integrationLatency',
  'requestTime',
  'resourcePath',
  'responseLatency',
  'responseLength',
  'status',
]);

it('the access log has no field that a caller chose', () => {
  const variables = ACCESS_LOG.match(/\$context\.[\w.]+\w/g) ?? [];
  expect(variables.length).toBeGreaterThan(5);
  expect(
    variables.map((each) => each.slice('$context.'.length)).filter((each) => !OF_THE_GATEWAY.has(each)),
  ).toEqual([]);
  // No other placeholder may remain.
  expect(ACCESS_LOG.match(/\$(?!context\.)/g)).toBeNull();
});
