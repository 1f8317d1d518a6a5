import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refusalByDynamoDb } from '../../src/permissions/dynamodb-rules.ts';
import { ACCEPTED, key, put, puts, REFUSED, TABLE, transaction } from '../support/refused-requests.ts';

const keysOf = (table: string) =>
  table === TABLE ? { key: ['pk', 'sk'], indexes: [{ name: 'byDue', key: ['dueIn', 'dueAt'] }] } : undefined;
const refusal = (operation: string, body: object) =>
  refusalByDynamoDb(`DynamoDB_20120810.${operation}`, { TableName: TABLE, ...body }, keysOf);

describe('the check of DynamoDB requests', () => {
  it.each(REFUSED)('refuses %s', (_, operation, body, message) => {
    expect(refusal(operation, body)).toMatch(message);
  });

  it.each(ACCEPTED)('accepts %s', (_, operation, body) => {
    expect(refusal(operation, body)).toBeUndefined();
  });

  it('refuses an empty text exactly where an attribute is a key', () => {
    const attribute = fc.constantFrom('pk', 'sk', 'dueIn', 'dueAt', 'text', 'name');
    fc.assert(
      fc.property(
        attribute,
        fc.constantFrom('PutItem', 'BatchWriteItem', 'TransactWriteItems'),
        (name, operation) => {
          const item = { ...key(), [name]: { S: '' } };
          const body = {
            PutItem: { Item: item },
            BatchWriteItem: puts([item]),
            TransactWriteItems: transaction(put(item)),
          };
          const isKey = !['text', 'name'].includes(name);
          expect(refusal(operation, body[operation as keyof typeof body]) !== undefined).toBe(isKey);
        },
      ),
    );
  });

  it('refuses values exactly when they are unused or missing in an expression', () => {
    const some = fc.uniqueArray(fc.constantFrom(':a', ':b', ':c', ':d'), { minLength: 1 });
    fc.assert(
      fc.property(some, some, (used, defined) => {
        const body = {
          Item: key(),
          ConditionExpression: used.map((name) => `x = ${name}`).join(' OR '),
          ExpressionAttributeValues: Object.fromEntries(defined.map((name) => [name, { N: '1' }])),
        };
        const isSame = used.toSorted().join() === defined.toSorted().join();
        expect(refusal('PutItem', body) === undefined).toBe(isSame);
      }),
    );
  });
});
