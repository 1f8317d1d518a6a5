import { describe, expect, it } from 'vitest';
import { faultSequence, faultyAnswer, requirePossible } from '../../../src/functions/sandbox/faults.ts';

const DYNAMODB = 'DynamoDB_20120810.';
const RequestItems = { Events: { Keys: [{ pk: { S: 'a' } }] }, Rates: { Keys: [{ pk: { S: 'b' } }] } };

describe('a sequence of faults', () => {
  it('assigns faults to the first requests of an operation, and none to later ones', () => {
    const next = faultSequence({ BatchGetItem: ['missed', 'none', 'unprocessed'], PutItem: ['lost'] });
    expect(['BatchGetItem', 'PutItem', 'PutItem', 'Query'].map(next)).toEqual([
      'missed',
      'lost',
      undefined,
      undefined,
    ]);
    expect([1, 2, 3].map(() => next('BatchGetItem'))).toEqual([undefined, 'unprocessed', undefined]);
  });

  it.each([
    ['unprocessed', 'GetItem'],
    ['missed', 'BatchWriteItem'],
    ['conflict', 'Query'],
  ] as const)('rejects %s for %s', (fault, operation) => {
    expect(() => requirePossible({ [operation]: ['none', fault] })).toThrow(
      `The local run has no fault "${fault}" for ${operation}`,
    );
  });

  it('accepts a lost answer and a throttled request for every operation', () => {
    expect(() =>
      requirePossible({ SendMessageBatch: ['throttled'], GetSecretValue: ['lost'] }),
    ).not.toThrow();
  });
});

describe('the answer with a fault', () => {
  it.each([
    ['unprocessed', 'BatchGetItem', { Responses: {}, UnprocessedKeys: RequestItems }],
    ['unprocessed', 'BatchWriteItem', { UnprocessedItems: RequestItems }],
    ['missed', 'BatchGetItem', { Responses: { Events: [], Rates: [] }, UnprocessedKeys: {} }],
  ] as const)('is, for %s of %s, a success without effect', (fault, operation, body) => {
    expect(faultyAnswer(fault, `${DYNAMODB}${operation}`, { RequestItems })).toEqual({
      statusCode: 200,
      body,
    });
  });

  it('cancels a transaction with a reason for each of its writes', () => {
    const { statusCode, body } = faultyAnswer('conflict', `${DYNAMODB}TransactWriteItems`, {
      TransactItems: [{ Put: {} }, { Update: {} }],
    });
    expect(statusCode).toBe(400);
    expect(body).toMatchObject({
      __type: 'TransactionCanceledException',
      message: expect.stringContaining('[TransactionConflict, None]'),
      CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }],
    });
  });

  it.each([
    ['conflict', `${DYNAMODB}PutItem`, 'TransactionConflictException'],
    ['throttled', `${DYNAMODB}Query`, 'ProvisionedThroughputExceededException'],
    ['throttled', 'AmazonSQS.SendMessageBatch', 'RequestThrottled'],
    ['throttled', 'secretsmanager.GetSecretValue', 'ThrottlingException'],
  ] as const)('is, for %s of %s, the exception of its service', (fault, target, __type) => {
    expect(faultyAnswer(fault, target, {})).toMatchObject({ statusCode: 400, body: { __type } });
  });
});
