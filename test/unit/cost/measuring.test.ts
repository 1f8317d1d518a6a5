import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { consumedBy } from '../../bench/requests/capacity.ts';
import { itemBytes } from '../../bench/requests/items.ts';
import { minus, NOTHING, plus, type Tally, times } from '../../bench/requests/tally.ts';
import { fitted, workOf } from '../../bench/requests/work.ts';

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
      indexWrites: 2,
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
      indexWrites: 0,
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

describe('the cost of a batch and of each record', () => {
  const amounts = fc.record({
    invocations: fc.integer({ min: 1, max: 100 }),
    size: fc.integer({ min: 1, max: 50 }),
  });
  const parts = fc.record({
    perBatch: fc.integer({ min: 0, max: 20 }),
    perUnit: fc.integer({ min: 0, max: 20 }),
  });

  it('follows from two measurements of both together', () => {
    fc.assert(
      fc.property(amounts, amounts, parts, (few, many, { perBatch, perUnit }) => {
        fc.pre(many.size > few.size);
        const tally = ({ invocations, size }: typeof few): Tally => ({
          ...NOTHING,
          invocations,
          records: invocations * size,
          writes: invocations * (perBatch + size * perUnit),
        });
        const result = fitted(tally(few), tally(many));
        expect(result.perBatch.writes).toBeCloseTo(perBatch, 6);
        expect(result.perUnit.writes).toBeCloseTo(perUnit, 6);
      }),
    );
  });

  it('is not computable when the batches are alike', () => {
    const tally = { ...NOTHING, invocations: 10, records: 20, writes: 30 };

    expect(() => fitted(tally, tally)).toThrow('do not determine the cost');
  });

  it('is not negative, with any errors of measurement', () => {
    expect(workOf({ ...NOTHING, cpuMs: -0.4, writes: 2.00049 })).toMatchObject({ cpuMs: 0, writes: 2 });
  });
});

describe('tallies', () => {
  it('are added and subtracted measure by measure', () => {
    const single = { ...NOTHING, reads: 3, cpuMs: 1.5 };

    expect(plus(single, single)).toEqual(times(single, 2));
    expect(minus(single, single)).toEqual(NOTHING);
  });
});
