import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { buildEvent, type EventData, SubscribableType } from '../../../functions/events/events.ts';
import { EVENT_SHARDS, keys } from '../../../functions/tenancy/keys.ts';
import { aTenant, NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { metered } from '../../support/consumed.ts';

/*
 * The write units of an organization's events, which are in four partitions of the outbox
 * (docs/decisions/0023-event-log-and-recovery.md).
 */
const EVENTS_A_SECOND = 1000;
/** What a partition takes in a second (DynamoDB Developer Guide, partition keys). */
const PARTITION_UNITS = 1000;
const UNITS_OF_AN_EVENT = 2;

const engine = dynamoDb();
const id = {
  conversationId: newId('cnv', NOW),
  messageId: newId('msg', NOW),
  escalationLogId: newId('esc', NOW),
  ticketId: newId('tkt', NOW),
};
/** Free text of a usual length. */
const text = 'x'.repeat(200);
const DATA: { [Type in SubscribableType]: EventData<Type> } = {
  'conversation.created': { ...id, channelId: 'chn_web', externalUserId: text },
  'message.received': { ...id, role: 'user' },
  'handoff.requested': { ...id, reason: text },
  'ticket.created': { ...id, reason: text },
  'conversation.resolved': { ...id, resolvedBy: text },
  'conversation.deleted': id,
  'webhook.failing': { webhookId: newId('whk', NOW) },
  'webhook.disabled': { webhookId: newId('whk', NOW) },
  'webhook.recovered': { webhookId: newId('whk', NOW) },
};

describe('an event of an organization', () => {
  it.each(SubscribableType.options)('of type %s takes two write units in its transaction', async (type) => {
    const client = engine.client();
    const { outbox } = await engine.tables(client);
    const context = { tenant: aTenant(), now: NOW, traceId: '1-5759e988-bd862e3fe1be46a994272793' };
    const event = buildEvent(type, DATA[type], context);
    const consumed = metered(client);

    await committer(client)([outboxStore(outbox).append(event)]);

    expect(consumed().writes).toBe(UNITS_OF_AN_EVENT);
  });

  it('leaves room in every partition at a thousand events a second', () => {
    const tenant = aTenant();
    const events = Array.from({ length: EVENTS_A_SECOND }, () => keys.event(tenant, newId('evt', NOW)).pk);
    const perPartition = [...Map.groupBy(events, (pk) => pk).values()].map(({ length }) => length);

    expect(perPartition).toHaveLength(EVENT_SHARDS);
    // Half of it when the events are spread evenly: room for events of up to 2 KB.
    expect((UNITS_OF_AN_EVENT * EVENTS_A_SECOND) / EVENT_SHARDS).toBe(PARTITION_UNITS / 2);
    expect(UNITS_OF_AN_EVENT * Math.max(...perPartition)).toBeLessThan(PARTITION_UNITS);
  });
});
