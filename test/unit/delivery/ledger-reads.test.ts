import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import {
  getHourBefore,
  getLatestHours,
  type HourRange,
  type LedgerEntry,
  ledgerStore,
  NO_COUNTS,
} from '../../../functions/delivery/ledger.ts';
import { cacheFinishedHours } from '../../../functions/delivery/statistics.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aLedgerEntry, later, NOW, seconds } from '../../builders.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';

const dynamo = mockedDynamoDb();
const client = new DynamoDBClient({});
const webhookId = newId('whk', NOW);
const range = getLatestHours(NOW, 168);

beforeEach(() => {
  dynamo.reset();
});

describe("read of an endpoint's hours", () => {
  const ledger = ledgerStore({ client, name: 'ledger' });

  it('continues where an answer ends early', async () => {
    const hours = [2, 1, 0].map((back) => getHourBefore(NOW, back));
    dynamo.on(QueryCommand).callsFake(({ ExclusiveStartKey: after }) => {
      const [hour = '', next] = hours.slice(after === undefined ? 0 : hours.indexOf(after.sk) + 1);
      const key = keys.ledger(webhookId, 0, hour);
      return {
        Items: [{ ...key, webhookId, generation: 0, hour, ...NO_COUNTS, owed: 1 }],
        ...(next === undefined ? {} : { LastEvaluatedKey: key }),
      };
    });
    expect((await ledger.read(webhookId, 0, range)).map(({ hour }) => hour)).toEqual(hours);
    expect(dynamo.calls()).toHaveLength(3);
  });
});

describe('addition to the ledger', () => {
  const part = { shardId: 'a-shard', first: '1', last: '1' };

  it('marks an endpoint, generation and day as active once', async () => {
    const ledger = ledgerStore({ client, name: 'ledger' });
    dynamo.on(UpdateCommand).resolves({});
    const entry = aLedgerEntry({ webhookId, hour: '2026-11-20T09:00:00.000Z' });
    for (const change of [{}, {}, { hour: '2026-11-20T10:00:00.000Z' }, { hour: '2026-11-21T00:00:00.000Z' }])
      await ledger.add(part, { ...entry, ...change });
    const written = dynamo.commandCalls(UpdateCommand).map(({ args }) => args[0].input.Key);
    const noted = [entry.hour, '2026-11-21T00:00:00.000Z'].map((hour) => keys.active(webhookId, 0, hour));
    expect(written.filter((key) => key?.sk === noted[0]?.sk)).toEqual(noted);
    expect(written).toHaveLength(4 + noted.length);
  });

  it('marks the day before it counts, and again after a failure', async () => {
    const ledger = ledgerStore({ client, name: 'ledger' });
    dynamo.on(UpdateCommand).rejectsOnce(new Error('throttled')).resolves({});
    const entry = aLedgerEntry({ webhookId });
    await expect(ledger.add(part, entry)).rejects.toThrow('throttled');
    expect(dynamo.calls()).toHaveLength(1);
    await ledger.add(part, entry);
    const active = keys.active(webhookId, 0, entry.hour);
    expect(dynamo.commandCalls(UpdateCommand).map(({ args }) => args[0].input.Key)).toEqual([
      active,
      active,
      keys.ledger(webhookId, 0, entry.hour),
    ]);
  });
});

const hour = (back: number, counts: Partial<LedgerEntry> = { owed: 1, succeeded: 1 }) =>
  aLedgerEntry({ webhookId, hour: getHourBefore(NOW, back), ...counts });

/** A ledger of some entries, with the hours that were read from it. */
function aReader(entries: LedgerEntry[]) {
  const asked: HourRange[] = [];
  const read = cacheFinishedHours(async (_id, _generation, range) => {
    asked.push(range);
    return entries.filter(({ hour: at }) => at >= range.first && at <= range.last);
  });
  return { asked, read: (count: number, now = NOW) => read(webhookId, 0, getLatestHours(now, count), now) };
}

describe('the reader of finished hours', () => {
  it('reads only the hours again that began less than three hours ago', async () => {
    const { asked, read } = aReader([0, 1, 5, 30].map((back) => hour(back)));
    const first = await read(168);
    expect(await read(168)).toEqual(expect.arrayContaining(first));
    expect(asked[1]).toEqual({ first: getHourBefore(NOW, 3), last: getHourBefore(NOW, 0) });
  });

  it('reads every hour again from the first with an open delivery', async () => {
    const { asked, read } = aReader([hour(40), hour(20, { owed: 2, succeeded: 1 }), hour(10)]);
    await read(168);
    await read(168);
    expect(asked[1]?.first).toBe(getHourBefore(NOW, 20));
  });

  it('reads all hours again when more are requested than before, or after ten minutes', async () => {
    const { asked, read } = aReader([hour(30)]);
    await read(24);
    await read(168);
    await read(168, later(NOW, seconds(601)));
    expect(asked.map(({ first }) => first)).toEqual([
      getHourBefore(NOW, 23),
      getHourBefore(NOW, 167),
      getHourBefore(later(NOW, seconds(601)), 167),
    ]);
  });

  it('returns what the ledger has, regardless of earlier reads, while finished hours do not change', async () => {
    const counts = fc.record({ back: fc.nat({ max: 200 }), open: fc.boolean() });
    const reads = fc.array(
      fc.record({ count: fc.integer({ min: 1, max: 168 }), after: fc.nat({ max: 7200 }) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(counts, { selector: ({ back }) => back, maxLength: 30 }),
        reads,
        async (given, asked) => {
          const entries = given.map(({ back, open }) => hour(back, { owed: 1, succeeded: open ? 0 : 1 }));
          const { read } = aReader(entries);
          let now = NOW;
          for (const { count, after } of asked) {
            now = later(now, seconds(after));
            const { first, last } = getLatestHours(now, count);
            const expected = entries.filter(({ hour: at }) => at >= first && at <= last);
            const entriesRead = await read(count, now);
            expect(entriesRead.map(({ hour: at }) => at).sort()).toEqual(
              expected.map(({ hour: at }) => at).sort(),
            );
          }
        },
      ),
    );
  });
});
