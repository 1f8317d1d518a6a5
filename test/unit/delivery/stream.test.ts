import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { sumChanges } from '../../../functions/delivery/ledger.ts';
import { DEFAULT_GRACE_SECONDS } from '../../../functions/delivery/timing.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { aDeliveryStream, inOrder, SHARD, sequenced } from './delivery-stream-fixture.ts';

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

  it('ignores a delivery that has ended since, or that is in the index already', async () => {
    const { run, deliveries, clock } = aDeliveryStream();
    const [over, indexed] = [aDelivery(), aDelivery()];
    for (const delivery of [over, indexed]) await deliveries.add(delivery);
    await deliveries.skip(over, 'endpoint_deleted', NOW);
    const changes = sequenced([{ kind: 'added', delivery: indexed }]);
    await run(SHARD, changes);
    const before = deliveries.due;
    clock.elapse(60);

    await run(SHARD, [...sequenced([{ kind: 'added', delivery: over }]), ...changes]);

    expect(deliveries.due).toEqual(before);
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
