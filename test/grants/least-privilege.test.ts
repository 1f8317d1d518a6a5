import { describe, expect, it } from 'vitest';
import { entryPoints } from '../../lib/infra/bundle.ts';
import { missingGrants, usedByLambda } from './grants.ts';
import { readRecords } from './records.ts';

/*
 * A second check of the roles: they allow everything that functions did in the integration tests. That they
 * allow nothing else is compared with the code (test/infra/grants.test.ts).
 */
const PREFIX = 'conversation-service-dev-';
const records = readRecords();
const roles = new Map(records.flatMap(({ role }) => (role ? [[role.functionName, role] as const] : [])));

it('the records contain every function', () => {
  expect([...roles.keys()].sort()).toEqual(
    Object.keys(entryPoints())
      .map((name) => `${PREFIX}${name}`)
      .sort(),
  );
});

describe.each([...roles.values()].map((role) => [role.functionName.slice(PREFIX.length), role] as const))(
  '%s',
  (_, { functionName, statements }) => {
    const used = records.flatMap(({ use, eventSource }) => [
      ...(use?.functionName === functionName ? [use] : []),
      ...(eventSource?.functionName === functionName ? usedByLambda(eventSource) : []),
    ]);

    it('may make all calls that it made', () => {
      expect(missingGrants(statements, used)).toEqual([]);
    });
  },
);
