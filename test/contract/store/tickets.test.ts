import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { ticketStore } from '../../../functions/conversations/conversations.ts';
import { aTenant, aTicket, NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { aConversationService } from './conversation-service.ts';

const engine = dynamoDb();

async function tickets() {
  const { service } = await engine.tables();
  const store = ticketStore(service);
  const commit = committer(service.client);
  const tenant = aTenant();
  return { store, tenant, add: (ticket = aTicket(), of = tenant) => commit(store.add(of, ticket)) };
}

describe('a ticket', () => {
  it.each([
    ['with nothing', aTicket()],
    ['with a conversation', aTicket({ conversationId: newId('cnv', NOW) })],
    ['with a reason', aTicket({ reason: 'no answer was found' })],
    ['with both', aTicket({ conversationId: newId('cnv', NOW), reason: 'no answer was found' })],
  ])('%s is found as it was added', async (_, ticket) => {
    const { store, tenant, add } = await tickets();
    await add(ticket);

    const stored = await store.find(tenant, ticket.id);
    expect(stored).toStrictEqual(ticket);
    expect(await store.list(tenant, { limit: 10 })).toEqual({ items: [ticket] });
  });

  it('whose conversation and reason are undefined is stored without them', async () => {
    const { store, tenant, add } = await tickets();
    const ticket = aTicket();
    await add({ ...ticket, conversationId: undefined, reason: undefined });

    expect(await store.find(tenant, ticket.id)).toStrictEqual(ticket);
  });

  it('is not found in another organization or generation', async () => {
    const { store, tenant, add } = await tickets();
    const ticket = aTicket();
    await add(ticket);

    for (const other of [aTenant(), { ...tenant, generation: 1 }]) {
      expect(await store.find(other, ticket.id)).toBeUndefined();
      expect(await store.list(other, { limit: 10 })).toEqual({ items: [] });
    }
  });

  it('is never overwritten', async () => {
    const { store, tenant, add } = await tickets();
    const ticket = aTicket({ reason: 'the first' });
    await add(ticket);

    expect(await add({ ...ticket, reason: 'another' })).toEqual({ kind: 'refused', refusal: 'exists' });

    expect(await store.find(tenant, ticket.id)).toEqual(ticket);
  });
});

describe('a new ticket', () => {
  it('of a conversation of the organization is added with its event', async () => {
    const { createTicket, tickets, events, conversation } = await aConversationService(engine);

    const answer = await createTicket({ conversationId: conversation.id });

    expect(answer).toMatchObject({ status: 201, data: { conversationId: conversation.id, reason: null } });
    const ticketId = answer.data?.id;
    expect(await tickets()).toMatchObject([{ id: ticketId, conversationId: conversation.id }]);
    expect(await events('ticket.created')).toEqual([{ ticketId, conversationId: conversation.id }]);
  });

  it('of a conversation of another organization is refused like that of an unknown one', async () => {
    const { createTicket, tickets, events, foreign } = await aConversationService(engine);

    const answer = await createTicket({ conversationId: foreign.id });

    expect(answer).toMatchObject({
      status: 404,
      error: { type: 'NOT_FOUND', message: 'No such conversation.' },
    });
    expect(await createTicket({ conversationId: newId('cnv', NOW) })).toMatchObject({
      status: 404,
      error: { message: answer.error?.message },
    });
    expect(await tickets()).toEqual([]);
    expect(await events('ticket.created')).toEqual([]);
  });
});
