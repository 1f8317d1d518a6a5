import { describe, expect, it } from 'vitest';
import { faultSequence, faultyAnswer, requirePossible } from '../../../src/functions/sandbox/faults.ts';

const DYNAMODB = 'DynamoDB_20120810.';
const RequestItems = { Events: { Keys: [{ pk: { S: 'a' } }] }, Rates: { Keys: [{ pk: { S: 'b' } }] } };

describe('a sequence of faults', () => {
  it('gives each of the first requests of an operation its fault, and the later ones none', () => {
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
  ] as const)('cannot have %s for %s', (fault, operation) => {
    expect(() => requirePossible({ [operation]: ['none', fault] })).toThrow(
      `The local run has no fault "${fault}" for ${operation}`,
    );
  });

  it('can have a lost answer and a throttled request for every operation', () => {
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
  ] as const)('%s of %s succeeds without doing anything', (fault, operation, body) => {
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
  ] as const)('%s of %s is the exception of its service', (fault, target, __type) => {
    expect(faultyAnswer(fault, target, {})).toMatchObject({ statusCode: 400, body: { __type } });
  });
});
