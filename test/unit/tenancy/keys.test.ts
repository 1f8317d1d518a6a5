import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildIdBounds, deriveDeliveryId, newId } from '../../../functions/aws/ids.ts';
import { toStartOfHour } from '../../../functions/delivery/ledger.ts';
import { toMonth } from '../../../functions/events/usage.ts';
import {
  buildTenantKey,
  buildUsageKeyBounds,
  CONVERSATION_SHARDS,
  DELIVERY_SHARDS,
  DUE_SHARDS,
  DUE_STATES,
  keys,
  LEDGER_SHARDS,
  listShards,
  TICKET_SHARDS,
  USAGE_SHARDS,
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

  it('begin with their tenant and a separator, which no longer generation passes', () => {
    fc.assert(
      fc.property(tenants, names, (tenant, named) => {
        for (const partition of listPartitions(tenant, named))
          expect(partition.startsWith(`${tenant.orgId}#${tenant.generation}#`)).toBe(true);
      }),
    );
  });

  it('of organization data differ between organizations, and from those of tenant data', () => {
    const [first, second] = [aTenant(), aTenant()];
    const own = ({ orgId }: Tenant) => [
      keys.organization(orgId).pk,
      keys.endpoints(orgId),
      keys.endpointCount(orgId).pk,
    ];
    for (const partition of own(first)) expect(own(second)).not.toContain(partition);
    const data = listPartitions(first, { conversation: newId('cnv', NOW), route: 'r', key: 'k' });
    for (const partition of own(first)) expect(data).not.toContain(partition);
  });

  it('hold one collection each, of one conversation', () => {
    const tenant = aTenant();
    const partitions = listPartitions(tenant, { conversation: newId('cnv', NOW), route: 'r', key: 'k' });
    expect(new Set(partitions).size).toBe(partitions.length);
    const another = newId('cnv', NOW);
    expect(partitions).not.toContain(keys.messages(tenant, another));
    expect(partitions).not.toContain(keys.escalations(tenant, another));
  });

  it('of deliveries differ between endpoints, generations and shards', () => {
    const endpoints = [newId('whk', NOW), newId('whk', NOW)];
    const all = endpoints.flatMap((endpoint) =>
      [0, 1, 10, 11].flatMap((generation) =>
        listShards(DELIVERY_SHARDS).map((shard) => keys.deliveries(endpoint, generation, shard)),
      ),
    );
    expect(new Set(all).size).toBe(all.length);
  });

  it('of API keys have the digest, which no organization can choose', () => {
    expect(keys.apiKey('digest').pk).toBe('key#digest');
    expect(keys.apiKey('digest').pk.startsWith('org_')).toBe(false);
  });
});

describe('keys of messages and escalations', () => {
  it('are in the partition that their listing reads, under their ids', () => {
    const conversation = newId('cnv', NOW);
    const [message, escalation] = [newId('msg', NOW), newId('esc', NOW)];
    expect(keys.message(tenant, conversation, message)).toEqual({
      pk: keys.messages(tenant, conversation),
      sk: message,
    });
    expect(keys.escalation(tenant, conversation, escalation)).toEqual({
      pk: keys.escalations(tenant, conversation),
      sk: escalation,
    });
  });
});

describe('due index keys', () => {
  it('differ for each state and shard', () => {
    const places = DUE_STATES.flatMap((state) =>
      listShards(DUE_SHARDS).map((shard) => keys.due(state, shard)),
    );
    expect(new Set(places).size).toBe(DUE_STATES.length * DUE_SHARDS);
  });
});

describe('ledger keys', () => {
  const hours = [toStartOfHour(NOW), toStartOfHour(later(NOW, seconds(86_400)))];

  it('differ for each endpoint, generation and hour, and an audit finds the active ones', () => {
    const endpoints = Array.from({ length: 200 }, () => newId('whk', NOW));
    const all = endpoints.flatMap((id) =>
      [0, 1, 10].flatMap((generation) => hours.map((hour) => keys.ledger(id, generation, hour))),
    );
    expect(new Set(all.map((key) => JSON.stringify(key))).size).toBe(all.length);
    const noted = endpoints.flatMap((id) => hours.map((hour) => keys.active(id, 0, hour).pk));
    const listed = hours.flatMap((hour) =>
      listShards(LEDGER_SHARDS).map((shard) => keys.activeInDay(hour, shard)),
    );
    expect(new Set(noted)).toEqual(new Set(listed));
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

describe('usage keys', () => {
  const months = fc
    .date({ min: new Date(0), max: later(NOW, seconds(10 ** 9)), noInvalidDate: true })
    .map(toMonth);
  const anyShard = fc.nat({ max: 2 * USAGE_SHARDS });

  it('are in a range of months exactly when their month is, for any shard', () => {
    fc.assert(
      fc.property(months, months, months, anyShard, (from, to, month, shard) => {
        const [first, last] = buildUsageKeyBounds(from, to);
        const { sk } = keys.usageOf(aTenant().orgId, month, shard);
        expect(first <= sk && sk <= last).toBe(from <= month && month <= to);
      }),
      { numRuns: 300 },
    );
  });

  it('and those of metered events are in partitions of their organization', () => {
    const [first, second] = [newId('org', NOW), newId('org', NOW)];
    const event = newId('evt', NOW);
    const partitions = [first, second].flatMap((orgId) => [keys.usage(orgId), keys.metered(orgId, event).pk]);
    expect(new Set(partitions).size).toBe(4);
    expect(partitions.map((pk) => pk.startsWith(`${first}#`))).toEqual([true, true, false, false]);
  });
});

describe('items of one partition', () => {
  it('have different sort keys', () => {
    const { orgId } = aTenant();
    const all = [
      keys.organization(orgId),
      keys.endpointCount(orgId),
      keys.endpoint(orgId, newId('whk', NOW)),
    ];
    expect(new Set(all.map((key) => JSON.stringify(key))).size).toBe(all.length);
  });
});

describe('shards', () => {
  it.each(spread)('of %s are stable, and read by a listing', (_, { add, listed }) => {
    for (let count = 0; count < 200; count++) {
      const { id, key } = add();
      expect(key().sk).toBe(id);
      expect(key()).toEqual(key());
      expect(listed).toContain(key().pk);
    }
  });

  it.each(spread)(
    'of %s receive about the same number of items, even of one millisecond',
    (_, { add, listed }) => {
      const taken = new Map<string, number>();
      for (let count = 0; count < 500 * listed.length; count++) {
        const { pk } = add().key();
        taken.set(pk, (taken.get(pk) ?? 0) + 1);
      }
      expect(taken.size).toBe(listed.length);
      // 500 are expected in each; 350 is more than seven standard deviations below.
      expect(Math.min(...taken.values())).toBeGreaterThan(350);
    },
  );
});
