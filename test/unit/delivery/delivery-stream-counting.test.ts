import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { type DeliveryChange, sumChanges } from '../../../functions/delivery/ledger.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { interposed } from '../../doubles/interposed.ts';
import { ledgerIn } from '../../doubles/memory-ledger.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { aDeliveryStream, entryNameOf, inOrder, SHARD, sequenced } from './delivery-stream-fixture.ts';

const ENDPOINTS = Array.from({ length: 3 }, () => newId('whk', NOW));

/** Deliveries added in a row, each of which ends some changes later or never. */
const streams = fc
  .array(
    fc.record({
      endpoint: fc.nat({ max: ENDPOINTS.length - 1 }),
      hour: fc.nat({ max: 2 }),
      end: fc.constantFrom('open', 'succeeded', 'exhausted', 'skipped'),
      after: fc.nat({ max: 20 }),
    }),
    { minLength: 1, maxLength: 25 },
  )
  .map((all) =>
    all
      .flatMap(({ endpoint, hour, end, after }, index): { place: number; change: DeliveryChange }[] => {
        const delivery = aDelivery({
          id: newId('dlv', later(NOW, seconds(hour * 3600))),
          webhookId: ENDPOINTS[endpoint],
        });
        const added = { place: index, change: { kind: 'added' as const, delivery } };
        if (end === 'open') return [added];
        const status = end as 'succeeded' | 'exhausted' | 'skipped';
        const change = { kind: 'ended' as const, delivery: { ...delivery, status, attempts: 2 } };
        return [added, { place: index + after + 0.5, change }];
      })
      .toSorted((a, b) => a.place - b.place)
      .map(({ change }) => change),
  );

describe('count of a stream shard', () => {
  it('includes each change once, for any cut, overlap and replay of its batches', async () => {
    // How far a batch begins before the position that was read (at most as a mapping may), and its length.
    const batches = fc.array(
      fc.record({ back: fc.nat({ max: 30 }), size: fc.integer({ min: 1, max: 20 }) }),
      {
        maxLength: 15,
      },
    );
    await fc.assert(
      fc.asyncProperty(streams, batches, async (stream, cuts) => {
        const changes = sequenced(stream);
        const { run, ledger } = aDeliveryStream();
        let read = 0;
        for (const { back, size } of [...cuts, { back: 0, size: changes.length }]) {
          const from = Math.max(0, read - back);
          await run(SHARD, changes.slice(from, from + size));
          read = Math.max(read, Math.min(from + size, changes.length));
        }

        expect(inOrder(await ledger.every())).toEqual(inOrder(sumChanges(stream)));
      }),
    );
  });

  it('includes each change once when several runs read the shard at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(streams, fc.integer({ min: 2, max: 4 }), fc.scheduler(), async (stream, count, s) => {
        const memory = ledgerIn(memoryTables().ledger);
        const ledger = interposed('ledger', memory, async () => s.schedule(Promise.resolve()));
        const { run } = aDeliveryStream({ ledger });
        const changes = sequenced(stream);
        // All runs begin with the first change and end at different ones.
        const lengths = Array.from({ length: count }, (_, index) =>
          Math.ceil(((index + 1) / count) * changes.length),
        );
        await s.waitFor(Promise.all(lengths.map((length) => run(SHARD, changes.slice(0, length)))));

        expect(inOrder(await memory.every())).toEqual(inOrder(sumChanges(stream)));
      }),
    );
  });

  it('is separate from other shards, whose sequence numbers are not comparable', async () => {
    const { run, ledger } = aDeliveryStream();
    const stream: DeliveryChange[] = [{ kind: 'added', delivery: aDelivery() }];

    await run(SHARD, sequenced(stream));
    await run('shardId-2', sequenced(stream));

    expect(await ledger.every()).toMatchObject([{ owed: 2 }]);
  });

  it('compares sequence numbers as whole numbers', async () => {
    const { run, ledger } = aDeliveryStream();
    const delivery = aDelivery();

    await run(SHARD, [{ kind: 'added', delivery, sequence: '99999999999999999999' }]);
    await run(SHARD, [
      { kind: 'ended', delivery: { ...delivery, status: 'succeeded' }, sequence: '100000000000000000000' },
    ]);

    expect(await ledger.every()).toMatchObject([{ owed: 1, succeeded: 1 }]);
  });
});

describe('batch of many endpoints and hours', () => {
  it('costs one write for each of them, and no more when it is replayed', async () => {
    const writes: string[] = [];
    const memory = ledgerIn(memoryTables().ledger);
    const { run } = aDeliveryStream({
      ledger: {
        add(part, entry) {
          writes.push(entryNameOf(entry));
          return memory.add(part, entry);
        },
      },
    });
    const stream = Array.from({ length: 200 }, (): DeliveryChange[] => {
      const delivery = aDelivery();
      return [
        { kind: 'added', delivery },
        { kind: 'ended', delivery: { ...delivery, status: 'succeeded', attempts: 1 } },
      ];
    }).flat();

    await run(SHARD, sequenced(stream));

    expect(inOrder(await memory.every())).toEqual(inOrder(sumChanges(stream)));
    expect(writes).toHaveLength(200);
    expect(new Set(writes).size).toBe(200);
    await run(SHARD, sequenced(stream));
    expect(writes).toHaveLength(400);
    expect(inOrder(await memory.every())).toEqual(inOrder(sumChanges(stream)));
  });

  it('fails for a repetition when the ledger stays ahead of it', async () => {
    let tries = 0;
    const { run } = aDeliveryStream({
      ledger: {
        async add() {
          tries += 1;
          return { countedTo: '0' };
        },
      },
    });

    await expect(run(SHARD, sequenced([{ kind: 'added', delivery: aDelivery() }]))).rejects.toThrow(SHARD);
    expect(tries).toBe(10);
  });
});
