import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Conversation as ConversationAnswer,
  CreateTicket,
  Escalation as EscalationAnswer,
  RequestHandoff,
  ResolveConversation,
  Ticket as TicketAnswer,
} from '../../../functions/api/conversations/routes.ts';
import { newId } from '../../../functions/aws/ids.ts';
import { aConversation, anEscalation, aTicket, NOW } from '../../builders.ts';

/** A text field of a body, and its maximum length. */
const fields = [
  ['the reason of a handoff', RequestHandoff, 'reason', 1000],
  ['the resolver of a conversation', ResolveConversation, 'resolvedBy', 200],
  ['the reason of a ticket', CreateTicket, 'reason', 1000],
] as const;

describe.each(fields)('%s', (_, schema, field, maximum) => {
  it('accepts any text up to its maximum length, and no other', () => {
    const lengths = fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 2 * maximum }), fc.constant(maximum));
    fc.assert(
      fc.property(lengths, fc.constantFrom('x', ' ', '#', 'ä', '漢'), (length, character) => {
        const body = { [field]: character.repeat(length) };
        const parsed = schema.safeParse(body);
        expect(parsed.success).toBe(length >= 1 && length <= maximum);
        if (parsed.success) expect(parsed.data).toMatchObject(body);
      }),
    );
  });

  it.each([null, 7, true, [], {}])('rejects %j', (value) => {
    expect(schema.safeParse({ [field]: value }).success).toBe(false);
  });
});

describe('conversation of a ticket', () => {
  it.each([null, '', 'nonsense', 'cnv_1', newId('msg', NOW), `${newId('cnv', NOW)}0`])(
    'rejects %j',
    (value) => {
      expect(CreateTicket.safeParse({ conversationId: value }).success).toBe(false);
    },
  );
});

describe('optional body', () => {
  it.each([
    ['a handoff', RequestHandoff, {}],
    ['a resolution', ResolveConversation, { resolvedBy: 'api' }],
    ['a ticket', CreateTicket, {}],
  ] as const)(
    'of %s has the same meaning when it is missing or empty, and no unknown fields',
    (_, schema, meaning) => {
      for (const body of [undefined, {}]) expect(schema.parse(body)).toStrictEqual(meaning);
      expect(schema.safeParse({ status: 'open' }).success).toBe(false);
    },
  );

  it.each([RequestHandoff, ResolveConversation, CreateTicket])('rejects any other JSON (%#)', (schema) => {
    for (const body of [null, [], 'text', 0, true]) expect(schema.safeParse(body).success).toBe(false);
  });
});

describe('unknown field of an answer', () => {
  it('is null, never absent', () => {
    expect(ConversationAnswer.parse(aConversation())).toMatchObject({ resolvedAt: null, resolvedBy: null });
    expect(EscalationAnswer.parse(anEscalation())).toMatchObject({ reason: null });
    expect(TicketAnswer.parse(aTicket())).toMatchObject({ conversationId: null, reason: null });
  });

  it('is returned when it is known', () => {
    const resolution = { resolvedAt: NOW.toISOString(), resolvedBy: 'agent-7' };
    expect(ConversationAnswer.parse(aConversation({ status: 'resolved', ...resolution }))).toMatchObject(
      resolution,
    );
    expect(EscalationAnswer.parse(anEscalation({ reason: 'why' }))).toMatchObject({ reason: 'why' });
    expect(TicketAnswer.parse(aTicket({ reason: 'why' }))).toMatchObject({ reason: 'why' });
  });
});
