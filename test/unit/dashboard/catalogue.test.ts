import { describe, expect, it } from 'vitest';
import { endpointOptions } from '../../../dashboard/src/pages/endpoint-options.ts';
import {
  CATALOGUED_TYPES,
  ENTRIES,
  fieldsOf,
  pathOfType,
  subscribersOf,
  targetsOf,
  typeNamed,
} from '../../../dashboard/src/pages/event-types/catalogue.ts';
import { de } from '../../../dashboard/src/text/de.ts';
import { en } from '../../../dashboard/src/text/en.ts';
import { errorTextOf, sourceErrorTextOf } from '../../../dashboard/src/text/error-text.ts';
import document from '../../../docs/openapi/v1.json';

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

it('the endpoints of a filter have different labels, also with the same name, and no secrets', () => {
  const url = 'https://localhost:4433/hooks';
  const options = endpointOptions(
    [
      { id: 'whk_1234567890aaaaaa', url, status: 'active', description: null },
      { id: 'whk_1234567890bbbbbb', url, status: 'auto_disabled', description: null },
      { id: 'whk_1234567890cccccc', url: 'https://example.com/', status: 'paused', description: 'CRM' },
      ...['?token=short&v=2', '?simulate=500,500,200', '?h=9f8e7d6c5b4a39281706'].map((query, index) => ({
        id: `whk_1234567890ddddd${index}`,
        ...({ url: `https://example.com/${query}`, status: 'active', description: null } as const),
      })),
    ],
    { paused: 'Paused', auto_disabled: 'Disabled' },
  );
  expect(options.map(({ label }) => label)).toEqual([
    'localhost:4433/hooks · …aaaaaa',
    'localhost:4433/hooks · …bbbbbb · Disabled',
    'CRM · Paused',
    'example.com/?token=••••&v=2',
    'example.com/?simulate=500,500,200',
    'example.com/?h=••••',
  ]);
});

const { schemas } = document.components;

describe.each([
  ['English', en],
  ['German', de],
])('the dashboard in %s', (_, texts) => {
  const { forms, attemptErrors } = texts;

  it("has a text of its own for each code of an attempt's error, with what the API says of it", () => {
    const codes = schemas.Delivery.properties.lastErrorCode.anyOf.flatMap((part) => part.enum ?? []);
    expect(Object.keys(attemptErrors).sort()).toEqual(codes.toSorted());
    expect(new Set(Object.values(attemptErrors).map((text) => text(503))).size).toBe(codes.length);
    const failure = { lastError: 'TLS certificate has expired', lastResponseStatus: null };
    expect(errorTextOf(texts, { ...failure, lastErrorCode: 'tls' })).toMatch(
      /^TLS.+: TLS certificate has expired$/,
    );
    const later = Object({ ...failure, lastErrorCode: 'quantum' });
    expect(errorTextOf(texts, later)).toBe('TLS certificate has expired');
  });

  it("has a text for each code of a source's error, with what the API says of it", () => {
    const codes = schemas.Source.properties.lastErrorCode.anyOf.flatMap((part) => part.enum ?? []);
    const lastError = 'the server answered 404';
    const textOf = (code: string | null) =>
      sourceErrorTextOf(texts, Object({ lastError, lastErrorCode: code }));
    expect(new Set(codes.map(textOf)).size).toBe(codes.length);
    for (const code of codes) expect(textOf(code)).toMatch(/^[A-ZÄÖÜ][^:]+[^:.]: the server answered 404$/);
    for (const code of [null, 'quantum']) expect(textOf(code)).toBe(lastError);
  });

  it('has a text of its own for each code of an invalid field', () => {
    const codes = schemas.ErrorDetail.properties.code['x-extensible-enum'];
    expect(Object.keys(forms.faults).sort()).toEqual(codes.toSorted());
    expect(new Set(Object.values(forms.faults).map((text) => text(7))).size).toBe(codes.length);
  });
});
