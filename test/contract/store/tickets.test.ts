import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { aConversationService } from './conversation-service.ts';

const engine = dynamoDb();

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
