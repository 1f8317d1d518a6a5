import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { consumedBy } from '../../bench/requests/capacity.ts';
import { NOTHING, plus, usageOf } from '../../bench/requests/tally.ts';
import { itemBytes } from '../../support/item-size.ts';

const consumed = (operation: string, asked: object, answer: object) =>
  consumedBy(operation, JSON.stringify(asked), JSON.stringify(answer));

describe('the consumed capacity of a request', () => {
  it('is the read units of all tables that a batch reads', () => {
    const ConsumedCapacity = [{ CapacityUnits: 0.5 }, { CapacityUnits: 1.5 }];

    expect(consumed('DynamoDB.BatchGetItem', {}, { ConsumedCapacity })).toMatchObject({
      reads: 2,
      writes: 0,
    });
  });

  it('is the write units of a table and its indexes together', () => {
    const ConsumedCapacity = {
      CapacityUnits: 3,
      Table: { CapacityUnits: 1 },
      GlobalSecondaryIndexes: { due: { CapacityUnits: 2 } },
    };

    expect(consumed('DynamoDB.UpdateItem', {}, { ConsumedCapacity })).toMatchObject({
      reads: 0,
      writes: 3,
    });
  });

  it('includes refused requests, for which DynamoDB reports nothing', () => {
    const refused = { __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException' };
    const cancelled = { __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException' };

    expect(consumed('DynamoDB.PutItem', {}, refused)).toMatchObject({ writes: 1 });
    expect(consumed('DynamoDB.TransactWriteItems', { TransactItems: [{}, {}, {}] }, cancelled)).toMatchObject(
      {
        writes: 6,
      },
    );
  });

  it('is zero for a request to no table', () => {
    expect(consumed('AmazonSQS.SendMessageBatch', { Entries: [{}, {}] }, {})).toEqual({
      reads: 0,
      writes: 0,
      entries: 2,
    });
    expect(consumedBy('POST /v2/email/outbound-emails', 'no JSON', '')).toMatchObject({ entries: 1 });
  });
});

describe('the bytes of an item', () => {
  it('include its names and values', () => {
    expect(itemBytes({ pk: 'abc', ü: 'é' })).toBe(2 + 3 + 2 + 2);
    expect(itemBytes({ n: 12345, yes: true, no: null })).toBe(1 + 4 + 3 + 1 + 2 + 1);
    expect(itemBytes({ l: ['a', 'bc'] })).toBe(1 + 3 + 2 + 3);
    expect(itemBytes({ m: { a: 'b' } })).toBe(1 + 3 + 1 + 2);
    expect(itemBytes({ b: new Uint8Array(7) })).toBe(8);
  });

  it('are the sum over its attributes', () => {
    const items = fc.dictionary(
      fc.string({ minLength: 1 }),
      fc.oneof(fc.string(), fc.integer(), fc.boolean()),
    );
    fc.assert(
      fc.property(items, (item) => {
        const sizes = Object.entries(item).map(([name, value]) => itemBytes({ [name]: value }));
        expect(itemBytes(item)).toBe(sizes.reduce((sum, bytes) => sum + bytes, 0));
      }),
    );
  });
});

describe('the usage of a function', () => {
  const tally = {
    ...NOTHING,
    invocations: 10,
    records: 100,
    polls: 20,
    cpuMs: 100,
    reads: 5,
    writes: 300,
    requests: 300,
  };

  it('is what it asked of AWS, for each unit, without what it did not ask', () => {
    expect(usageOf(tally, 100, 1769)).toEqual({
      writeUnits: 3,
      readUnits: 0.05,
      queueRequests: 0.2,
      invocations: 0.1,
      // 100 ms of its own, and 15 ms for the requests of a record in each invocation.
      gbSeconds: Number(((0.25 * 1769) / 1024 / 100).toPrecision(4)),
    });
  });

  it('takes longer with less memory, and with receivers that answer later', () => {
    const seconds = (memoryMiB: number, waitMs: number) =>
      ((usageOf(tally, 1, memoryMiB, waitMs)?.gbSeconds ?? 0) * 1024) / memoryMiB;

    expect(seconds(884.5, 0)).toBeCloseTo(0.35, 3);
    expect(seconds(1769, 2_000)).toBeCloseTo(2.25, 2);
  });

  it('is added up measure by measure', () => {
    expect(plus(tally, tally)).toMatchObject({ invocations: 20, records: 200, writes: 600, logLines: 0 });
    expect(plus(tally, { reads: 1 })).toEqual({ ...tally, reads: 6 });
  });
});
