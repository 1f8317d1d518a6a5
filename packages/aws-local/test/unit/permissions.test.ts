import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allows } from '../../src/permissions/permissions.ts';
import type { Statement } from '../../src/permissions/statements.ts';

const allow = (actions: string[], resources: string[]): Statement => ({
  effect: 'Allow',
  actions,
  resources,
});
const deny = (actions: string[], resources: string[]): Statement => ({ effect: 'Deny', actions, resources });

const TABLE = 'arn:aws:dynamodb:us-east-1:000000000000:table/Events';

describe('a role', () => {
  it('permits nothing without a statement', () => {
    expect(allows([], 'dynamodb:GetItem', TABLE)).toBe(false);
    expect(allows([allow(['dynamodb:GetItem'], [TABLE])], 'dynamodb:PutItem', TABLE)).toBe(false);
    expect(allows([allow(['dynamodb:GetItem'], [TABLE])], 'dynamodb:GetItem', `${TABLE}/index/due`)).toBe(
      false,
    );
  });

  it('needs action and resource in one statement', () => {
    const statements = [allow(['dynamodb:GetItem'], ['arn:other']), allow(['dynamodb:PutItem'], [TABLE])];
    expect(allows(statements, 'dynamodb:GetItem', TABLE)).toBe(false);
  });

  it('permits nothing that another statement denies', () => {
    expect(
      allows([allow(['*'], ['*']), deny(['dynamodb:Delete*'], ['*'])], 'dynamodb:DeleteItem', TABLE),
    ).toBe(false);
    expect(allows([allow(['*'], ['*']), deny(['dynamodb:Delete*'], ['*'])], 'dynamodb:GetItem', TABLE)).toBe(
      true,
    );
  });

  it.each([
    ['dynamodb:*', TABLE, true],
    ['dynamodb:Get*', TABLE, true],
    ['DYNAMODB:getitem', TABLE, true],
    ['dynamodb:GetIte?', TABLE, true],
    ['dynamodb:GetItem?', TABLE, false],
    ['dynamodb:GetItem', `${TABLE}*`, true],
    ['dynamodb:GetItem', '*/Events', true],
    ['dynamodb:GetItem', '*/events', false],
    ['dynamodb:GetItem', `${TABLE}/*`, false],
    ['dynamodb:GetItem', 'arn:aws:dynamodb:*:*:table/Ev?nts', true],
    ['dynamodb.GetItem', TABLE, false],
  ])('permits with %s on %s to read the table: %s', (action, resource, expected) => {
    expect(allows([allow([action], [resource])], 'dynamodb:GetItem', TABLE)).toBe(expected);
  });

  it('has wildcards that match as a regular expression would', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (pattern, resource) => {
        const expression = new RegExp(`^${pattern.replaceAll('?', '.').replaceAll('*', '.*')}$`);
        expect(allows([allow(['x:Y'], [pattern])], 'x:Y', resource)).toBe(expression.test(resource));
      }),
    );
  });
});
