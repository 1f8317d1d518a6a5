import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { type DeliveryChange, type LedgerEntry, sumChanges } from '../../../functions/delivery/ledger.ts';
import {
  type DeliveryStreamPorts,
  processDeliveryStream,
  type SequencedChange,
} from '../../../functions/delivery/ledger-updates.ts';
import { DEFAULT_GRACE_SECONDS } from '../../../functions/delivery/timing.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { interposed } from '../../doubles/interposed.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { ledgerIn } from '../../doubles/memory-ledger.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';

const SHARD = 'shardId-1';

/**
 * Changes as a shard of the stream numbers them: rising, with gaps, and beyond what a number holds exactly.
 */
const sequenced = (changes: readonly DeliveryChange[]): SequencedChange[] =>
  changes.map((change, index) => ({
    ...change,
    sequence: String(9_999_999_999_999_990n + 7n * BigInt(index)),
  }));

/** The delivery stream's worker over deliveries in memory. */
function aDeliveryStream(replaced: Partial<DeliveryStreamPorts> = {}) {
  const clock = new VirtualClock();
  const states = memoryOrganizationStates();
  const log = recordedLog();
  const deliveries = memoryDeliveries(new MemoryEndpoints());
  const due = deliveries.dueIndex;
  const ledger = ledgerIn(deliveries.tables.ledger);
  const run = processDeliveryStream(
    { due, ledger, organizations: states, log, now: clock.now, ...replaced },
    { graceSeconds: DEFAULT_GRACE_SECONDS },
  );
  return { clock, log, states, deliveries, due, ledger, run };
}

/** Sorts entries by key, since the order of counting may vary. */
const inOrder = (entries: readonly LedgerEntry[]): LedgerEntry[] =>
  entries.toSorted((a, b) => entryNameOf(a).localeCompare(entryNameOf(b)));

const entryNameOf = ({ webhookId, generation, hour }: LedgerEntry): string =>
  `${webhookId} ${generation} ${hour}`;

const countable = (all: readonly Delivery[]) => all.map((delivery) => ({ kind: 'added' as const, delivery }));
const ended = (delivery: Delivery): Delivery => ({ ...delivery, status: 'succeeded' });

describe('delivery stream', () => {
  it('adds a delivery to the due index that has not ended within its batch', async () => {
    const { run, deliveries } = aDeliveryStream();
    const delivery = aDelivery();
    await deliveries.add(delivery);

    await run(SHARD, sequenced([{ kind: 'added', delivery }]));

    const dueAt = later(NOW, seconds(DEFAULT_GRACE_SECONDS)).toISOString();
    expect(deliveries.dueOf(delivery)).toEqual({ state: 'watched', dueAt });
  });

  it('writes nothing for deliveries that end within their batch or are skipped from the start', async () => {
    const watched: string[] = [];
    const { run } = aDeliveryStream({
      due: {
        async watch({ id }) {
          watched.push(id);
        },
      },
    });
    const quick = Array.from({ length: 100 }, () => aDelivery());
    const open = aDelivery();
    const skipped = aDelivery({ status: 'skipped', terminalReason: 'endpoint_disabled' });

    await run(
      SHARD,
      sequenced([
        ...[...quick, open, skipped].map((delivery) => ({ kind: 'added' as const, delivery })),
        ...quick.map((delivery) => ({ kind: 'ended' as const, delivery: ended(delivery) })),
      ]),
    );

    expect(watched).toEqual([open.id]);
  });

  it.each(['the due index', 'the ledger'])(
    'processes nine of ten deliveries before it fails for one that %s refuses',
    async (refusing) => {
      const { run: whole, deliveries, due, ledger } = aDeliveryStream();
      const all = Array.from({ length: 10 }, () => aDelivery());
      for (const delivery of all) await deliveries.add(delivery);
      const [, broken] = all;
      const refuse = async () => {
        throw new Error('the row is refused');
      };
      const { run } = aDeliveryStream({
        due: {
          watch: (ref, at) =>
            refusing === 'the due index' && ref.id === broken?.id ? refuse() : due.watch(ref, at),
        },
        ledger: {
          add: (part, entry) =>
            refusing === 'the ledger' && entry.webhookId === broken?.webhookId
              ? refuse()
              : ledger.add(part, entry),
        },
      });
      const changes = sequenced(countable(all));

      await expect(run(SHARD, changes)).rejects.toThrow('the row is refused');

      const others = all.filter((delivery) => delivery !== broken);
      expect(inOrder(await ledger.every())).toEqual(inOrder(sumChanges(countable(others))));
      for (const delivery of others) expect(deliveries.dueOf(delivery)).toBeDefined();

      await whole(SHARD, changes);
      expect(inOrder(await ledger.every())).toEqual(inOrder(sumChanges(changes)));
      expect(deliveries.due).toHaveLength(10);
    },
  );
});

const orgId = newId('org', NOW);

const added = (tenant: { orgId: OrgId; generation: number }): DeliveryChange => ({
  kind: 'added',
  delivery: aDelivery(tenant),
});

/** The delivery stream's worker, with a sandbox. */
function aSandboxStream(replaced: Parameters<typeof aDeliveryStream>[0] = {}) {
  const service = aDeliveryStream(replaced);
  service.states.makeSandbox(orgId);
  return service;
}

describe('delivery stream of a sandbox', () => {
  it('neither counts nor indexes nor logs deliveries that a reset has deleted', async () => {
    const { run, ledger, deliveries, states, log } = aSandboxStream();
    const change = added({ orgId, generation: 1 });
    await deliveries.add(change.delivery);
    states.reset(orgId);

    await run(SHARD, sequenced([change]));

    expect(await ledger.every()).toEqual([]);
    expect(deliveries.due).toEqual([]);
    expect(log.entries).toEqual([]);
  });

  it('does not count deliveries of a newer generation than the stored one', async () => {
    const { run, ledger, log } = aSandboxStream();

    await run(SHARD, sequenced([added({ orgId, generation: 2 })]));

    expect(await ledger.every()).toEqual([]);
    expect(log.entries.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});

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
});

describe('batch of many endpoints and hours', () => {
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
