import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { newId } from '../../../functions/aws/ids.ts';
import {
  BusEvent,
  createNotice,
  createReceiverNotice,
  NOTICES,
  Notice,
  toBusEvent,
} from '../../../functions/events/bus.ts';
import { buildEvent, EVENT_CATALOGUE, type EventType } from '../../../functions/events/events.ts';
import { anEvent, aSandboxTenant, aTenant, NOW } from '../../builders.ts';

const tenant = aTenant();
const context = { tenant, now: NOW };

describe('event on the bus', () => {
  it('has its type, tenant and time, and the ids of its objects', () => {
    const data = { conversationId: newId('cnv', NOW), channelId: 'web', externalUserId: 'ada' };
    const event = buildEvent('conversation.created', data, {
      tenant: aSandboxTenant({ generation: 4 }),
      now: NOW,
    });

    const busEvent = toBusEvent(event);

    expect(busEvent).toEqual({
      id: event.id,
      type: 'conversation.created',
      orgId: event.orgId,
      generation: 4,
      createdAt: NOW.toISOString(),
      data: { conversationId: data.conversationId },
    });
    expect(BusEvent.parse(JSON.parse(JSON.stringify(busEvent)))).toEqual(busEvent);
  });

  it('is omitted when it is for one endpoint', () => {
    expect(toBusEvent(anEvent({ onlyTo: newId('whk', NOW) }))).toBeUndefined();
  });
});

describe('notice', () => {
  it('is the event on the bus, with the given id', () => {
    const sourceId = newId('src', NOW);
    const notice = createNotice('source.check', `${sourceId}#first`, { sourceId }, context);

    expect(Notice.parse(notice)).toEqual(notice);
    expect(BusEvent.parse(notice)).toEqual({
      id: `${sourceId}#first`,
      type: 'source.check',
      ...tenant,
      createdAt: NOW.toISOString(),
      data: { sourceId },
    });
  });

  it.each([
    ['disabled', { disabledAt: NOW.toISOString() }],
    ['failing', {}],
  ] as const)('that an endpoint is %s is unique for that endpoint and time', (what, more) => {
    const data = { webhookId: newId('whk', NOW), lastError: 'timeout' };
    expect(createReceiverNotice(`webhook.${what}`, data, context)).toMatchObject({
      id: `${data.webhookId}#${what}#${NOW.toISOString()}`,
      type: `webhook.${what}`,
      data: { ...data, ...more },
    });
  });

  it('has only the fields of its type', () => {
    const sourceId = newId('src', NOW);
    const more = { sourceId, content: 'of the source' };
    expect(createNotice('source.deleted', 'id', more, context).data).toEqual({ sourceId });
  });

  it('rejects data of another type', () => {
    const sourceId = newId('whk', NOW) as unknown as `src_${string}`;
    expect(() => createNotice('source.check', 'id', { sourceId }, context)).toThrow();
  });

  it('has a type that no event has on the bus', () => {
    const types: string[] = Object.entries(EVENT_CATALOGUE).flatMap(([type, { onBus }]) =>
      onBus.length > 0 ? [type] : [],
    );
    expect(Object.keys(NOTICES).filter((type) => types.includes(type))).toEqual([]);
  });
});

const BUS_FIELDS = Object.fromEntries(
  Object.entries(EVENT_CATALOGUE).map(([type, { onBus }]) => [type, onBus]),
);

/** Fields of the bus that can have any text: strings that are neither an id, a time, nor an enumeration. */
function textsOnBus(fields: Record<string, readonly string[]>): string[] {
  return Object.entries(fields).flatMap(([type, names]) => {
    const schema = z.toJSONSchema(EVENT_CATALOGUE[type as EventType].data);
    const properties = schema.properties ?? {};
    const isText = (name: string): boolean => {
      const property = properties[name];
      return (
        typeof property === 'object' && property.type === 'string' && !property.pattern && !property.enum
      );
    };
    return names.filter(isText).map((name) => `${type}.${name}`);
  });
}

describe('data on the bus', () => {
  it('consists of ids and enumerations, without text from users', () => {
    expect(textsOnBus(BUS_FIELDS)).toEqual([]);
  });
});
