import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { MessageRole } from '../../../functions/conversations/conversations.ts';
import {
  buildEvent,
  buildExampleEvent,
  EVENT_CATALOGUE,
  type EventData,
  type EventType,
  EventTypeName,
  OutboxEvent,
  SubscribableType,
  toEventView,
} from '../../../functions/events/events.ts';
import { aTenant, NOW } from '../../builders.ts';
import { texts, times } from '../aws/arbitraries.ts';

/**
 * The fields of docs/specification.md, Subscribable event types, and those of the types for one receiver.
 * `?` = optional.
 */
const TABLE: Record<EventType, string[]> = {
  'conversation.created': ['conversationId', 'channelId', 'externalUserId'],
  'message.received': ['conversationId', 'messageId', 'role'],
  'handoff.requested': ['conversationId', 'escalationLogId', 'reason?'],
  'ticket.created': ['ticketId', 'conversationId?', 'reason?'],
  'conversation.resolved': ['conversationId', 'resolvedBy'],
  'conversation.deleted': ['conversationId'],
  'webhook.failing': ['webhookId'],
  'webhook.disabled': ['webhookId'],
  'webhook.recovered': ['webhookId'],
  'webhook.test': ['webhookId'],
  'channel.test': ['channelId'],
  'channel.message': ['channelId', 'conversationId', 'messageId', 'externalUserId', 'role', 'content'],
};
const types = Object.keys(TABLE) as EventType[];
const required = (type: EventType) => TABLE[type].filter((field) => !field.endsWith('?'));
const optional = (type: EventType) =>
  TABLE[type].filter((field) => field.endsWith('?')).map((field) => field.slice(0, -1));

/** A value for every field of any event. */
const record = {
  conversationId: newId('cnv', NOW),
  messageId: newId('msg', NOW),
  escalationLogId: newId('esc', NOW),
  ticketId: newId('tkt', NOW),
  webhookId: newId('whk', NOW),
  channelId: newId('chn', NOW),
  externalUserId: 'visitor-1',
  role: 'agent' as const,
  content: 'Hello',
  reason: 'asked for a person',
  resolvedBy: 'api',
};
const picked = (fields: string[]) =>
  Object.fromEntries(Object.entries(record).filter(([field]) => fields.includes(field)));

const context = { tenant: aTenant(), now: NOW };
const parseEnvelope = (event: OutboxEvent) => JSON.parse(event.body);
/** Builds an event from a record with more fields than the event has. */
const build = (type: EventType, data: object, given = context) =>
  buildEvent(type, data as EventData<EventType>, given);

describe('event catalogue', () => {
  it('has exactly the five subscribable types of the specification', () => {
    const toOne: EventType[] = ['webhook.test', 'channel.test', 'channel.message'];
    expect([...SubscribableType.options].sort()).toEqual(
      types.filter((type) => !toOne.includes(type)).sort(),
    );
  });

  it('has no type beyond those of the specification', () => {
    expect([...EventTypeName.options].sort()).toEqual([...types].sort());
  });

  it('has the message roles of the specification', () => {
    expect([...MessageRole.options].sort()).toEqual(['agent', 'assistant', 'system', 'user']);
  });
});

describe.each(types)('data of %s', (type) => {
  const listed = [...required(type), ...optional(type)].sort();

  it('has the specified fields', () => {
    expect(Object.keys(parseEnvelope(build(type, record)).data).sort()).toEqual(listed);
  });

  it('has no other field, for any record', () => {
    const extra = fc.dictionary(
      texts.map((name) => `x${name}`),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(extra, (fields) => {
        const data = parseEnvelope(build(type, { ...fields, ...record })).data;
        expect(data).toEqual(picked(listed));
      }),
    );
  });

  it('omits a missing optional field instead of null', () => {
    const withUndefined = Object.fromEntries(optional(type).map((field) => [field, undefined]));
    for (const data of [picked(required(type)), { ...picked(required(type)), ...withUndefined }]) {
      const event = build(type, data);
      expect(Object.keys(parseEnvelope(event).data).sort()).toEqual(required(type).sort());
      expect(event.body).not.toContain('null');
    }
  });

  it.each(required(type))('cannot be built without %s', (field) => {
    const others = listed.filter((other) => other !== field);
    expect(() => build(type, picked(others))).toThrow();
  });

  it.each(listed)('cannot be built with a null %s', (field) => {
    expect(() => build(type, { ...record, [field]: null })).toThrow();
  });
});

describe('event', () => {
  it('has its envelope in its body', () => {
    fc.assert(
      fc.property(fc.constantFrom(...types), times, (type, now) => {
        const tenant = aTenant();
        const event = build(type, record, { tenant, now });
        expect(parseEnvelope(event)).toEqual({
          type,
          schemaVersion: 1,
          orgId: tenant.orgId,
          createdAt: now.toISOString(),
          data: picked([...required(type), ...optional(type)]),
        });
      }),
    );
  });

  it('keeps any text of its fields unchanged', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const event = build('conversation.resolved', { ...record, resolvedBy: text });
        expect(parseEnvelope(event).data.resolvedBy).toBe(text);
      }),
    );
  });

  it('is read back as it was stored', () => {
    const event = build('ticket.created', record);
    expect(OutboxEvent.parse(JSON.parse(JSON.stringify(event)))).toEqual(event);
  });

  it('belongs to its tenant, with the generation', () => {
    const tenant = aTenant({ generation: 3 });
    expect(build('webhook.test', record, { tenant, now: NOW })).toMatchObject(tenant);
  });

  it('is for one endpoint only on request', () => {
    expect(build('webhook.test', record)).not.toHaveProperty('onlyTo');
    const onlyTo = record.webhookId;
    expect(buildEvent('webhook.test', record, { ...context, onlyTo })).toMatchObject({ onlyTo });
  });

  it('does not send generation and recipient to its receivers', () => {
    const tenant = aTenant({ generation: 7 });
    const event = buildEvent('webhook.test', record, { tenant, now: NOW, onlyTo: record.webhookId });
    expect(event.body).not.toMatch(/generation|onlyTo/);
  });
});

const testedId = newId('whk', NOW);
const tenant = aTenant();
const buildExample = (type: SubscribableType) =>
  buildExampleEvent(type, testedId, { tenant, now: NOW, traceId: undefined });

describe.each(SubscribableType.options)('an example of %s', (type) => {
  it('has the fields of a real event, and no others', () => {
    const body = JSON.parse(buildExample(type).body);
    expect(body).toEqual({
      type,
      schemaVersion: EVENT_CATALOGUE[type].schemaVersion,
      orgId: tenant.orgId,
      createdAt: NOW.toISOString(),
      data: expect.any(Object),
    });
    expect(Object.keys(body.data).sort()).toEqual(Object.keys(EVENT_CATALOGUE[type].fields).sort());
  });

  it('is for the tested endpoint alone', () => {
    expect(buildExample(type)).toMatchObject({ type, onlyTo: testedId });
  });

  it('is marked in the event log', () => {
    expect(toEventView(buildExample(type))).toMatchObject({ type, example: true });
  });
});
