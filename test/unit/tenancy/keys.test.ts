import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildIdBounds, deriveDeliveryId, newId } from '../../../functions/aws/ids.ts';
import {
  buildTenantKey,
  CONVERSATION_SHARDS,
  DELIVERY_SHARDS,
  DUE_SHARDS,
  keys,
  listShards,
  TICKET_SHARDS,
} from '../../../functions/tenancy/keys.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { aTenant, later, NOW, seconds } from '../../builders.ts';

/** Few organizations and generations, so that two tenants often share one of them. */
const orgIds = Array.from({ length: 3 }, () => newId('org', NOW));
const tenants: fc.Arbitrary<Tenant> = fc.record({
  orgId: fc.constantFrom(...orgIds),
  generation: fc.oneof(fc.nat({ max: 12 }), fc.nat({ max: 1_000_000 })),
});

/** Every partition that holds data of a tenant. */
function listPartitions(
  tenant: Tenant,
  names: { conversation: `cnv_${string}`; route: string; key: string },
) {
  return [
    ...listShards(CONVERSATION_SHARDS).map((shard) => keys.conversations(tenant, shard)),
    keys.messages(tenant, names.conversation),
    keys.escalations(tenant, names.conversation),
    ...listShards(TICKET_SHARDS).map((shard) => keys.tickets(tenant, shard)),
    keys.idempotency(tenant, names.route, names.key).pk,
  ];
}

const tenant = aTenant();
const endpoint = newId('whk', NOW);

/** The sharded collections: the key of a new item, and the partitions that a listing reads. */
const spread = Object.entries({
  conversations: {
    add() {
      const id = newId('cnv', NOW);
      return { id, key: () => keys.conversation(tenant, id) };
    },
    listed: listShards(CONVERSATION_SHARDS).map((shard) => keys.conversations(tenant, shard)),
  },
  tickets: {
    add() {
      const id = newId('tkt', NOW);
      return { id, key: () => keys.ticket(tenant, id) };
    },
    listed: listShards(TICKET_SHARDS).map((shard) => keys.tickets(tenant, shard)),
  },
  deliveries: {
    add() {
      const id = newId('dlv', NOW);
      return { id, key: () => keys.delivery(endpoint, 0, id) };
    },
    listed: listShards(DELIVERY_SHARDS).map((shard) => keys.deliveries(endpoint, 0, shard)),
  },
  'the due index': {
    add() {
      const id = newId('dlv', NOW);
      return { id, key: () => ({ pk: keys.dueOf('watched', id), sk: id }) };
    },
    listed: listShards(DUE_SHARDS).map((shard) => keys.due('watched', shard)),
  },
});

describe('partition keys', () => {
  const names = fc.record({
    conversation: fc.constant(newId('cnv', NOW)),
    route: fc.constantFrom('create-conversation', 'create-message'),
    key: fc.constant(randomUUID()),
  });

  it('are never shared by two tenants, even for the same conversation, route and key', () => {
    fc.assert(
      fc.property(tenants, tenants, names, (first, second, named) => {
        fc.pre(buildTenantKey(first) !== buildTenantKey(second));
        const theirs = new Set(listPartitions(second, named));
        for (const partition of listPartitions(first, named)) expect(theirs).not.toContain(partition);
      }),
      { numRuns: 500 },
    );
  });
});

describe('delivery id bounds of a time range', () => {
  const times = fc.date({
    min: new Date('1970-01-01T00:00:00.000Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  });

  it('include the ids of its events from its start to before its end', () => {
    const moments = fc.integer({ min: -2, max: 7_200_000 });
    fc.assert(
      fc.property(times, moments, (start, offset) => {
        const end = later(start, seconds(3600));
        const created = new Date(Math.max(0, start.getTime() + offset));
        const id = deriveDeliveryId(newId('evt', created), newId('whk', NOW));
        const [from, to] = buildIdBounds(start, end);
        expect(from <= id && id <= to).toBe(created >= start && created < end);
      }),
      { numRuns: 300 },
    );
  });
});

describe('shards', () => {
  it.each(spread)(
    'of %s are stable, read by a listing, and receive about the same number of items of one millisecond',
    (_, { add, listed }) => {
      const taken = new Map<string, number>();
      for (let count = 0; count < 500 * listed.length; count++) {
        const { id, key } = add();
        const { pk, sk } = key();
        if (count < 200) expect([sk, key()]).toEqual([id, { pk, sk }]);
        taken.set(pk, (taken.get(pk) ?? 0) + 1);
      }
      expect([...taken.keys()].toSorted()).toEqual(listed.toSorted());
      // 500 are expected in each; 350 is more than seven standard deviations below.
      expect(Math.min(...taken.values())).toBeGreaterThan(350);
    },
  );
});
