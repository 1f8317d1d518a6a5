import { expect, it } from 'vitest';
import { ACCESS_LOG } from '../../lib/cloud/api.ts';

/**
 * What the gateway itself knows of a request. Paths, queries, headers and bodies are what callers chose; a
 * resource's path is the template's.
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

it('the access log holds nothing that a caller chose', () => {
  const variables = ACCESS_LOG.match(/\$context\.[\w.]+\w/g) ?? [];
  expect(variables.length).toBeGreaterThan(5);
  expect(
    variables.map((each) => each.slice('$context.'.length)).filter((each) => !OF_THE_GATEWAY.has(each)),
  ).toEqual([]);
  // And nothing else that could stand for more.
  expect(ACCESS_LOG.match(/\$(?!context\.)/g)).toBeNull();
});
