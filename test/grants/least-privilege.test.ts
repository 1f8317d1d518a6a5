import { describe, expect, it } from 'vitest';
import { routes } from '../../functions/api/routes.ts';
import { DOCUMENTATION, SIGN_IN, WORKERS } from '../../lib/cloud/bundle.ts';
import { difference, grantsOf, usedByLambda } from './grants.ts';
import { readRecords } from './records.ts';

/*
 * What the role of each function allows is what the function does, no more and no less: all that the functions did in the integration tests
 * is compared with what the template grants them.
 */
const PREFIX = 'conversation-service-dev-';
const records = readRecords();
const roles = new Map(records.flatMap((record) => record.roles.map((role) => [role.functionName, role])));
const functionNames = [
  ...Object.values(routes).map(({ name }) => name),
  ...WORKERS,
  ...SIGN_IN,
  ...DOCUMENTATION,
].map((name) => `${PREFIX}${name}`);

it('every function is there', () => {
  expect([...roles.keys()].sort()).toEqual(functionNames.sort());
});

describe.each([...roles.values()].map((role) => [role.functionName.slice(PREFIX.length), role] as const))(
  '%s',
  (_, { functionName, statements }) => {
    const used = records.flatMap((record) => [
      ...record.used.filter((use) => use.functionName === functionName),
      ...record.eventSources.filter((source) => source.functionName === functionName).flatMap(usedByLambda),
    ]);

    it('is allowed what it does, and nothing else', () => {
      expect(difference(statements, used)).toEqual({ unused: [], missing: [] });
    });

    it('would be missed, each of its grants', () => {
      for (const { action, resource } of grantsOf(statements)) {
        // Where a use may be of either of two resources, it is with both of them that it would be missed.
        const alternatives = used.flatMap((one) =>
          one.action === action && 'or' in one ? [one.resource, one.or] : [],
        );
        const others = grantsOf(statements)
          .filter(
            (grant) =>
              grant.action !== action ||
              (grant.resource !== resource && !alternatives.includes(grant.resource)),
          )
          .map((grant) => ({
            effect: 'Allow' as const,
            actions: [grant.action],
            resources: [grant.resource],
          }));
        expect(difference(others, used).missing, `${action} on ${resource}`).not.toEqual([]);
      }
    });
  },
);
