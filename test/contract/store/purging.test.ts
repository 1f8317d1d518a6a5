import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { type Change, committer } from '../../../functions/aws/transaction.ts';
import {
  conversationStore,
  escalationStore,
  messageStore,
  ticketStore,
} from '../../../functions/conversations/conversations.ts';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { ledgerStore } from '../../../functions/delivery/ledger.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { recordSuccess } from '../../../functions/delivery/redelivery.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import { createNotice } from '../../../functions/events/bus.ts';
import { idempotencyStore } from '../../../functions/http/idempotency.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { purgeSandboxes, purgeStore, sandboxRows } from '../../../functions/tenancy/purge.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import {
  aConversation,
  aDelivery,
  aLedgerEntry,
  aMessage,
  anEndpoint,
  anEscalation,
  anEvent,
  aTicket,
  later,
  NOW,
  seconds,
} from '../../builders.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { casesOf } from '../../support/cases.ts';
import { everyRow } from './rows.ts';

const dynamo = dynamoDb();

/** Functions that store a resource of a tenant, each through the store of its entity. */
function waysToStore({ service, outbox, deliveries, ledger }: TestTables) {
  const commit = committer(service.client);
  const change = (of: (tenant: Tenant) => Change | Change[]) => (tenant: Tenant) =>
    commit([of(tenant)].flat()) as Promise<unknown>;
  const counts = ledgerStore(ledger);
  const store = deliveryStore(deliveries);
  return {
    conversation: change((tenant) => conversationStore(service).add(tenant, aConversation())),
    message: change((tenant) => messageStore(service).add(tenant, aMessage())),
    escalation: change((tenant) => escalationStore(service).add(tenant, anEscalation())),
    ticket: change((tenant) => ticketStore(service).add(tenant, aTicket())),
    idempotency: change((tenant) =>
      idempotencyStore(service).record(
        { tenant, route: 'create-ticket', key: crypto.randomUUID() },
        { fingerprint: 'f', status: 201, data: '{}' },
        NOW,
      ),
    ),
    event: change((tenant) => outboxStore(outbox).append(anEvent({ tenant }))),
    redelivery: change((tenant) => {
      const delivery = aDelivery(tenant);
      return [store.adding(delivery), outboxStore(outbox).appendRedelivery(toDeliveryMessage(delivery))];
    }),
    redelivered: change((tenant) => recordSuccess(service, aDelivery(tenant))),
    notice: change((tenant) =>
      outboxStore(outbox).appendNotice(
        createNotice(
          'source.check',
          crypto.randomUUID(),
          { sourceId: newId('src', NOW) },
          { tenant, now: NOW },
        ),
      ),
    ),
    delivery: (tenant: Tenant) => store.add(aDelivery(tenant)),
    ledger: (tenant: Tenant) =>
      counts.add({ shardId: 'a', first: '1', last: '1' }, aLedgerEntry({ ...tenant, owed: 1 })),
    // Settings, which no purge deletes.
    endpoint: change(({ orgId }) => endpointStore(service).add(anEndpoint({ orgId }))),
  };
}
type Kind = keyof ReturnType<typeof waysToStore>;
const KINDS: readonly Kind[] = [
  'conversation',
  'message',
  'escalation',
  'ticket',
  'idempotency',
  'event',
  'redelivery',
  'redelivered',
  'notice',
  'delivery',
  'ledger',
  'endpoint',
];
/** How many rows of a resource a purge deletes. */
const rowsOf = (kind: Kind): number =>
  ({ conversation: 2, redelivery: 2, ledger: 2, endpoint: 0 })[kind as string] ?? 1;

/**
 * Three sandboxes with generations where the key of one is a prefix of another's, and a live organization.
 */
const stored = fc.record({
  kind: fc.constantFrom(...KINDS),
  organization: fc.nat(3),
  generation: fc.constantFrom(1, 2, 10, 12),
});

describe('a purge', () => {
  it('deletes exactly the rows of its generation among any others', async () => {
    const tables = await dynamo.tables();
    const ways = waysToStore(tables);
    const purges = purgeStore(tables.service);
    const commit = committer(tables.service.client);
    const run = purgeSandboxes(
      {
        purges,
        remains: [tables.outbox, tables.deliveries, tables.ledger, tables.service].map(sandboxRows),
        log: recordedLog(),
        now: () => NOW,
      },
      { lingerSeconds: 0, leaseSeconds: 60 },
    );

    await fc.assert(
      fc.asyncProperty(
        fc.array(stored, { maxLength: 40, size: 'max' }),
        fc.constantFrom(1, 2, 10, 12),
        async (things, generation) => {
          const orgIds = Array.from({ length: 4 }, () => newId('org', NOW));
          // The last one is live.
          const buildTenant = (thing: (typeof things)[number]): Tenant => ({
            orgId: orgIds[thing.organization] ?? newId('org', NOW),
            generation: thing.organization === 3 ? 0 : thing.generation,
          });
          await Promise.all(things.map((thing) => ways[thing.kind](buildTenant(thing))));
          const purged = { orgId: orgIds[0] ?? newId('org', NOW), generation };
          const before = await everyRow(tables);
          await commit([purges.order({ ...purged, requestedAt: NOW.toISOString() })]);

          const its = things.filter((thing) => thing.organization === 0 && thing.generation === generation);
          const count = its.reduce((sum, { kind }) => sum + rowsOf(kind), 0);
          expect(await run(() => true)).toMatchObject({ deleted: count, closed: 1, open: 0 });

          const after = await everyRow(tables);
          expect(before.size - after.size).toBe(count);
          for (const [place, row] of before)
            if (row.ofSandbox === `${purged.orgId}#${generation}`) expect(after.has(place)).toBe(false);
            else expect(after.get(place)).toEqual(row);
        },
      ),
      { numRuns: casesOf(6, 25) },
    );
  });

  it('deletes nothing within its linger time, and all pages of its rows afterwards', async () => {
    const tables = await dynamo.tables();
    const ways = waysToStore(tables);
    const purges = purgeStore(tables.service);
    const tenant = { orgId: newId('org', NOW), generation: 1 };
    await Promise.all(Array.from({ length: 450 }, () => ways.delivery(tenant)));
    await Promise.all(Array.from({ length: 250 }, () => ways.ticket(tenant)));
    await ways.ticket({ ...tenant, generation: 2 });
    const before = await everyRow(tables);
    await committer(tables.service.client)([purges.order({ ...tenant, requestedAt: NOW.toISOString() })]);
    const remains = [tables.outbox, tables.deliveries, tables.ledger, tables.service].map(sandboxRows);
    const at = (now: Date) =>
      purgeSandboxes(
        { purges, remains, log: recordedLog(), now: () => now },
        { lingerSeconds: 1, leaseSeconds: 60 },
      )(() => true);

    expect(await at(NOW)).toMatchObject({ deleted: 0, closed: 0, open: 1 });
    expect(await everyRow(tables)).toHaveProperty('size', before.size + 1);
    expect(await at(later(NOW, seconds(1)))).toMatchObject({ deleted: 700, closed: 1, open: 0 });

    expect(await purges.of(tenant.orgId)).toEqual([]);
    const after = await everyRow(tables);
    expect(before.size - after.size).toBe(700);
    expect([...after.values()].filter(({ ofSandbox }) => ofSandbox === `${tenant.orgId}#1`)).toEqual([]);
  });
});
