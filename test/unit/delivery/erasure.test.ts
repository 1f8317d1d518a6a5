import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import { type Change, committer } from '../../../functions/aws/transaction.ts';
import {
  conversationStore,
  escalationStore,
  messageStore,
  ticketStore,
} from '../../../functions/conversations/conversations.ts';
import { createErasure } from '../../../functions/conversations/erasures.ts';
import { createDelivery, type Delivery } from '../../../functions/delivery/delivery.ts';
import { erasedConversations, erasing } from '../../../functions/delivery/erasure.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { recordRedelivery, repeatDelivery } from '../../../functions/delivery/redelivery.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import { buildEvent, type OutboxEvent } from '../../../functions/events/events.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { DEFAULT_LINGER_SECONDS, purgeSandboxes, purgeStore } from '../../../functions/tenancy/purge.ts';
import {
  aConversation,
  aMessage,
  anEndpoint,
  anEscalation,
  aTenant,
  aTicket,
  later,
  NOW,
  seconds,
} from '../../builders.ts';
import { rowsIn } from '../../contract/store/rows.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { sharedMemoryTables } from '../../doubles/tables/stack-tables.ts';
import { casesOf } from '../../support/cases.ts';

const TEXT = 'a text that is to be erased';
const tenant = aTenant();
const channelId = newId('chn', NOW);

/** An attempt that keeps a request and a response with the text. */
const ATTEMPT = {
  number: 1,
  startedAt: NOW.toISOString(),
  durationMs: 5,
  response: TEXT,
  request: { method: 'POST' as const, url: 'https://example.com', headers: {}, body: TEXT },
};
const ENDS: Partial<Delivery>[] = [
  { status: 'succeeded', attempts: 1, attemptLog: [ATTEMPT] },
  { status: 'retrying', attempts: 1, attemptLog: [ATTEMPT] },
  // An attempt is in progress.
  { status: 'retrying', attempts: 2, attemptLog: [ATTEMPT], lease: { token: 'a', until: NOW.getTime() * 2 } },
  { status: 'pending' },
];

/** Tables with an erased conversation of every kind of record, event and delivery, and another one. */
async function anErasure(messages: number) {
  const openTables = sharedMemoryTables();
  const tables = openTables();
  const { service, outbox, deliveries } = tables;
  const commit = async (...changes: Change[]) => {
    expect(await committer(service.client)(changes)).toEqual({ kind: 'committed' });
  };
  const endpoints = ENDS.map(() => anEndpoint({ orgId: tenant.orgId }));
  for (const endpoint of endpoints) await commit(...endpointStore(service).add(endpoint));
  const context = { tenant, now: NOW };

  async function addEvent(event: OutboxEvent): Promise<void> {
    await commit(outboxStore(outbox).append(event));
    const to = event.onlyTo === undefined ? endpoints : [{ id: event.onlyTo, status: 'active' as const }];
    for (const [index, receiver] of to.entries()) {
      const delivery = { ...createDelivery(event, receiver, NOW), ...ENDS[index % ENDS.length] };
      await deliveryStore(deliveries).add(delivery);
      if (index > 0) continue;
      const again = { ...repeatDelivery(delivery, newId('dlv', NOW), NOW, undefined), ...ENDS[0] };
      await commit(deliveryStore(deliveries).adding(again), recordRedelivery(service, again));
    }
  }

  async function converse() {
    const conversation = aConversation({ externalUserId: TEXT, channelId });
    const { id: conversationId } = conversation;
    await commit(...conversationStore(service).add(tenant, conversation));
    await addEvent(buildEvent('conversation.created', { ...conversation, conversationId }, context));
    for (let count = 0; count < messages; count += 1) {
      const message = aMessage({ id: newId('msg', NOW), conversationId, role: 'agent', content: TEXT });
      const data = {
        ...message,
        messageId: message.id,
        channelId,
        externalUserId: TEXT,
        role: 'agent' as const,
      };
      await commit(messageStore(service).add(tenant, message));
      await addEvent(buildEvent('message.received', data, context));
      await addEvent(buildEvent('channel.message', data, { ...context, onlyTo: channelId }));
    }
    const escalation = anEscalation({ id: newId('esc', NOW), conversationId, reason: TEXT });
    await commit(escalationStore(service).add(tenant, escalation));
    await addEvent(
      buildEvent('handoff.requested', { ...escalation, escalationLogId: escalation.id }, context),
    );
    const ticket = aTicket({ id: newId('tkt', NOW), conversationId, reason: TEXT });
    await commit(...ticketStore(service).add(tenant, ticket));
    await addEvent(buildEvent('ticket.created', { ...ticket, ticketId: ticket.id }, context));
    const resolved = buildEvent('conversation.resolved', { conversationId, resolvedBy: TEXT }, context);
    await commit(conversationStore(service).link(tenant, conversationId, resolved.id));
    await addEvent(resolved);
    return conversation;
  }

  const [erased, kept] = [await converse(), await converse()];
  const isOfKept = (row: object) => JSON.stringify(row).includes(kept.id);
  const before = (await allRows(tables)).filter(isOfKept);
  const erasure = createErasure('conversation', [erased], NOW);
  await commit(...erasing(tables)(erasure, [erased], context));
  return { openTables, tables, erased, erasure, kept: { isOfKept, before } };
}

const allRows = async ({ service, outbox, deliveries }: Record<'service' | 'outbox' | 'deliveries', Table>) =>
  (await Promise.all([service, outbox, deliveries].map(rowsIn))).flat();

class Killed extends Error {}

/** Runs the purge, which is killed at its n-th request. @returns whether it was killed */
async function purge(openTables: ReturnType<typeof sharedMemoryTables>, killedAt = Number.POSITIVE_INFINITY) {
  let requests = 0;
  const tables = openTables(async (_operation, _input, answer) => {
    requests += 1;
    // A process that is killed sends nothing more.
    if (requests >= killedAt) throw new Killed();
    return answer();
  });
  const now = () => later(NOW, seconds(DEFAULT_LINGER_SECONDS));
  const run = purgeSandboxes(
    {
      purges: purgeStore(tables.service),
      remains: [erasedConversations(tables, now)],
      log: recordedLog(),
      now,
    },
    { lingerSeconds: DEFAULT_LINGER_SECONDS, leaseSeconds: 0 },
  );
  await run(() => true).catch((error: unknown) => expect(error).toBeInstanceOf(Killed));
  return requests >= killedAt;
}

describe('the purge of an erased conversation', () => {
  it('leaves no text of it, and nothing of another one is changed, wherever it is killed', async () => {
    for (let killedAt = 1, isKilled = true; isKilled; killedAt += casesOf(5, 1)) {
      const { openTables, tables, erased, erasure, kept } = await anErasure(1);
      isKilled = await purge(openTables, killedAt);
      await purge(openTables);

      const rows = await allRows(tables);
      const others = rows.filter((row) => !kept.isOfKept(row));
      expect([killedAt, others.filter((row) => JSON.stringify(row).includes(TEXT))]).toEqual([killedAt, []]);
      expect(rows.filter(kept.isOfKept)).toEqual(kept.before);
      expect(await purgeStore(tables.service).open()).toEqual([]);
      expect(rows).toContainEqual(
        expect.objectContaining({ id: erasure.id, completedAt: expect.any(String) }),
      );
      const ofErased = rows.filter(
        ({ conversationId, webhookId }) => conversationId === erased.id && webhookId,
      );
      expect(new Set(ofErased.map(({ status, terminalReason }) => `${status} ${terminalReason}`))).toEqual(
        new Set(['succeeded undefined', 'skipped erased']),
      );
    }
  });

  it('takes as many pages as the conversation needs', async () => {
    const { openTables, tables, kept } = await anErasure(60);
    await purge(openTables);
    const others = (await allRows(tables)).filter((row) => !kept.isOfKept(row));
    expect(others.filter((row) => JSON.stringify(row).includes(TEXT))).toEqual([]);
  });
});
