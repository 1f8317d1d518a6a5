import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  filterOf,
  isSent,
  type LoggedEvent,
  previewOf,
  ROLES,
} from '../../../dashboard/src/pages/endpoints/filter.ts';
import { EventFilter } from '../../../functions/api/webhooks/routes.ts';
import { MessageRole } from '../../../functions/conversations/conversations.ts';
import { isFor, type SubscribableType } from '../../../functions/events/events.ts';

const TYPES = ['conversation.created', 'message.received', 'ticket.created'] as const;
const CHANNELS = ['web', 'shop'];

const anEvent = (type: LoggedEvent['type'], data: object, given: object = {}): LoggedEvent => ({
  ...{ id: 'evt_1', type, createdAt: '2026-11-20T12:00:00.100Z', data: { ...data }, ...given },
});

it('a filter has the roles of the service', () => {
  expect(ROLES).toEqual(MessageRole.options);
});

describe('the preview of a filter', () => {
  it.each([
    ['without a filter', 'message.received', { role: 'user' }, null, true],
    ['of a type that is not chosen', 'handoff.requested', {}, null, false],
    ['with a value in the list', 'message.received', { role: 'user' }, { roles: ['user'] }, true],
    [
      'with a value that is not in the list',
      'message.received',
      { role: 'agent' },
      { roles: ['user'] },
      false,
    ],
    ['without the field', 'ticket.created', {}, { channelIds: ['web'], roles: ['user'] }, true],
    [
      'in one of two lists',
      'conversation.created',
      { channelId: 'web' },
      { channelIds: ['web'], roles: ['user'] },
      true,
    ],
    ['of another channel', 'conversation.created', { channelId: 'shop' }, { channelIds: ['web'] }, false],
  ] as const)('for an event %s decides: %s', (_what, type, data, filter, expected) => {
    const given = filter as Parameters<typeof isSent>[1]['filter'];
    expect(isSent(anEvent(type, data), { events: TYPES, filter: given })).toBe(expected);
  });

  it('decides as the service does', () => {
    const subset = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 });
    const filters = fc.record({ channelIds: subset(CHANNELS), roles: subset(ROLES) }, { requiredKeys: [] });
    const values = fc.record(
      { channelId: fc.constantFrom(...CHANNELS), role: fc.constantFrom(...ROLES) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.constantFrom(...TYPES), subset(TYPES), filters, values, (type, events, filter, data) => {
        const endpoint = { id: 'whk_1', events: events as SubscribableType[], filter };
        expect(isSent(anEvent(type, data), { events, filter })).toBe(
          isFor({ type, filterValues: data }, endpoint),
        );
      }),
    );
  });

  it('leaves out examples, which one endpoint gets', () => {
    const example = anEvent('ticket.created', {}, { example: true });
    expect(isSent(example, { events: TYPES, filter: null })).toBe(false);
  });

  it('counts by type, within a second, and what would be lost, and shows the newest', () => {
    const at = (time: string) => ({ createdAt: `2026-11-20T12:00:${time}Z`, id: time });
    const events = [
      anEvent('message.received', { role: 'user' }, at('05.000')),
      ...['04.900', '04.500', '04.000', '03.999'].map((time) => anEvent('ticket.created', {}, at(time))),
      anEvent('message.received', { role: 'agent' }, at('03.000')),
    ];
    const preview = previewOf(
      events,
      { events: TYPES, filter: { roles: ['user'] } },
      { events: TYPES, filter: null },
    );
    expect(preview).toMatchObject({
      ...{ sent: 5, peak: 3, lost: 1 },
      types: [
        { key: 'ticket.created', count: 4 },
        { key: 'message.received', count: 1 },
      ],
    });
    expect(preview.examples.map(({ id }) => id)).toEqual(['05.000', '04.900', '04.500', '04.000', '03.999']);
    expect(previewOf([], { events: TYPES, filter: null })).toMatchObject({
      sent: 0,
      peak: 0,
      lost: undefined,
    });
  });
});

it.each([
  ['', [], null],
  [' \n', [], null],
  ['web\n\n shop ', [], { channelIds: ['web', 'shop'] }],
  ['', ['user'], { roles: ['user'] }],
] as const)('the filter of the channels %j and the roles %j is %j', (channelIds, roles, expected) => {
  const filter = filterOf({ channelIds, roles });
  expect(filter).toEqual(expected);
  if (filter !== null) expect(EventFilter.safeParse(filter).success).toBe(true);
});
