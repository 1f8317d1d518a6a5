import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openLoop } from '../../bench/measure/open-loop.ts';
import { consumedBy } from '../../bench/requests/capacity.ts';
import { NOTHING, usageOf } from '../../bench/requests/tally.ts';
import { itemBytes } from '../../support/item-size.ts';

describe('an open loop', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('continues while a target pauses, so that every call of that time shows the pause', async () => {
    const stopping = new AbortController();
    const pause = { from: 1100, to: 1600 };
    const load = { perSecond: 100, count: Number.POSITIVE_INFINITY, signal: stopping.signal };
    const began = performance.now();
    const sending = openLoop(load, async () => {
      const now = performance.now() - began;
      const wait = now >= pause.from && now < pause.to ? pause.to - now : 0;
      await new Promise((resolve) => setTimeout(resolve, wait + 1));
    });
    await vi.advanceTimersByTimeAsync(1995);
    stopping.abort();
    await vi.advanceTimersByTimeAsync(100);
    const latencies = (await sending).map(({ answeredAt, intendedAt }) =>
      Math.round(answeredAt - intendedAt),
    );
    expect(latencies).toHaveLength(200);
    // A loop that waits for answers would have counted the pause once.
    expect(latencies.filter((ms) => ms > 1)).toEqual(
      Array.from({ length: 50 }, (_, index) => 501 - 10 * index),
    );
  });
});

describe('the consumed capacity of a request', () => {
  const refusal = (name: string) => ({ __type: `com.amazonaws.dynamodb.v20120810#${name}Exception` });

  it.each([
    [
      'the read units of all tables that a batch reads',
      'DynamoDB.BatchGetItem',
      {},
      { ConsumedCapacity: [{ CapacityUnits: 0.5 }, { CapacityUnits: 1.5 }] },
      { reads: 2, writes: 0 },
    ],
    [
      'the write units of a table and its indexes together',
      'DynamoDB.UpdateItem',
      {},
      { ConsumedCapacity: { CapacityUnits: 3, GlobalSecondaryIndexes: { due: { CapacityUnits: 2 } } } },
      { reads: 0, writes: 3 },
    ],
    [
      'a unit for a refused request, for which DynamoDB reports nothing',
      'DynamoDB.PutItem',
      {},
      refusal('ConditionalCheckFailed'),
      { writes: 1 },
    ],
    [
      'two for each item of a refused transaction',
      'DynamoDB.TransactWriteItems',
      { TransactItems: [{}, {}, {}] },
      refusal('TransactionCanceled'),
      { writes: 6 },
    ],
    [
      'nothing for a request to no table, with its entries',
      'AmazonSQS.SendMessageBatch',
      { Entries: [{}, {}] },
      {},
      { reads: 0, writes: 0, entries: 2 },
    ],
  ])('is %s', (_, operation, asked, answer, expected) => {
    expect(consumedBy(operation, JSON.stringify(asked), JSON.stringify(answer))).toMatchObject(expected);
  });
});

it('the bytes of an item include its names and values', () => {
  expect(itemBytes({ pk: 'abc', ü: 'é' })).toBe(2 + 3 + 2 + 2);
  expect(itemBytes({ n: 12345, yes: true, no: null })).toBe(1 + 4 + 3 + 1 + 2 + 1);
  expect(itemBytes({ l: ['a', 'bc'] })).toBe(1 + 3 + 2 + 3);
  expect(itemBytes({ m: { a: 'b' } })).toBe(1 + 3 + 1 + 2);
  expect(itemBytes({ b: new Uint8Array(7) })).toBe(8);
});

describe('the usage of a function', () => {
  const work = { invocations: 10, records: 100, polls: 20, cpuMs: 100, reads: 5, writes: 300, requests: 300 };
  const tally = { ...NOTHING, ...work };

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
});
