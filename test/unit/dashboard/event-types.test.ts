import { describe, expect, it } from 'vitest';
import {
  CATALOGUED_TYPES,
  ENTRIES,
  fieldsOf,
  pathOfType,
  subscribersOf,
  targetsOf,
  typeNamed,
} from '../../../dashboard/src/pages/event-types/catalogue.ts';

const named = (type: 'message.received' | 'ticket.created') =>
  fieldsOf(ENTRIES[type].schema).map(({ path, name }) => [...path, name].join('.'));

describe('the fields of an event type', () => {
  it('are those of the envelope, with those of data below it', () => {
    expect(named('message.received')).toEqual([
      'type',
      'schemaVersion',
      'orgId',
      'createdAt',
      'data',
      'data.conversationId',
      'data.messageId',
      'data.role',
    ]);
  });

  it('have their type, their values and the prefix of identifiers', () => {
    const rows = fieldsOf(ENTRIES['message.received'].schema);
    const find = (wanted: string) => rows.find(({ name }) => name === wanted);
    expect(find('type')).toMatchObject({ type: 'string', values: ['"message.received"'], isRequired: true });
    expect(find('createdAt')).toMatchObject({ type: 'date-time', values: undefined });
    expect(find('messageId')).toMatchObject({ type: 'string', prefix: 'msg_' });
    expect(find('role')?.values).toEqual(['"user"', '"assistant"', '"agent"', '"system"']);
  });

  it('are optional where the schema does not require them', () => {
    const optional = fieldsOf(ENTRIES['ticket.created'].schema).filter(({ isRequired }) => !isRequired);
    expect(optional.map(({ name }) => name)).toEqual(['conversationId', 'reason']);
  });
});

describe('the page of an event type', () => {
  it('has a path without dots, which are of files', () => {
    for (const type of CATALOGUED_TYPES) {
      const path = pathOfType(type);
      expect(path).toMatch(/^\/event-types\/[a-z-]+$/);
      expect(typeNamed(path.slice('/event-types/'.length))).toBe(type);
    }
  });

  it('is not there for another name', () => {
    expect(typeNamed('conversation.created')).toBeUndefined();
    expect(typeNamed('constructor')).toBeUndefined();
  });
});

describe('endpoints of an event type', () => {
  const other = { id: 'other', events: ['ticket.created' as const], status: 'active' as const };
  const disabled = { id: 'off', events: ['message.received' as const], status: 'auto_disabled' as const };
  const active = { id: 'on', events: ['message.received' as const], status: 'active' as const };

  it('are those that subscribe to it, disabled ones included', () => {
    expect(subscribersOf('message.received', [other, disabled, active])).toEqual([disabled, active]);
  });

  it('can be sent an example while they are active, and any active one a test', () => {
    expect(targetsOf('message.received', [other, disabled, active])).toEqual([active]);
    expect(targetsOf('webhook.test', [other, disabled, active])).toEqual([other, active]);
  });
});
