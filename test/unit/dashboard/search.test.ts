import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ListedEvent } from '../../../dashboard/src/api/open-deliveries.ts';
import { createdAt, idIn, isId, isPartialId, prefixOf } from '../../../dashboard/src/pages/search/ids.ts';
import { type LookUpPorts, lookUp } from '../../../dashboard/src/pages/search/look-up.ts';
import { resultsOf } from '../../../dashboard/src/pages/search/results.ts';
import { NOW } from './followed-listing.ts';

const DAY = 86_400_000;
const idAt = (prefix: string, time: number, tail = '7'): string =>
  `${prefix}_${time.toString(16).padStart(12, '0')}${tail.padStart(20, '0')}`;
const WEBHOOK = idAt('whk', NOW - 9 * DAY);

/** An organization in which nothing is found; `given` adds what is. */
const anOrganization = (given: Partial<LookUpPorts> = {}): LookUpPorts => ({
  environments: ['live', 'sandbox'],
  now: NOW,
  hasEvent: async () => false,
  hasEndpoint: async () => false,
  hasSource: async () => false,
  hasDelivery: async () => false,
  hasKey: async () => false,
  endpointIds: async () => [WEBHOOK],
  eventsBetween: async () => [],
  ...given,
});

const anEventWith = (given: object): ListedEvent =>
  ({
    id: idAt('evt', NOW),
    type: 'ticket.created',
    data: {},
    deliveries: [],
    ...given,
  }) as unknown as ListedEvent;

/** The log of the sandbox has these events at their times. */
const inSandbox =
  (...events: ListedEvent[]): LookUpPorts['eventsBetween'] =>
  async (environment, from, to) =>
    environment === 'sandbox' ? events.filter(({ id }) => createdAt(id) >= from && createdAt(id) < to) : [];

describe('an identifier in a text', () => {
  it('is found wherever it stands, with its time', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('evt', 'dlv', 'whk', 'cnv', 'msg', 'key', 'src'),
        fc.integer({ min: 0, max: NOW }),
        fc.constantFrom(['', ''], ['"', '",'], ['  ', '\n'], ['https://x.example/events/', '?a=b']),
        (prefix, time, [before, after]) => {
          const id = idAt(prefix, time);
          expect(idIn(`${before}${id}${after}`)).toBe(id);
          expect([prefixOf(id), createdAt(id), isId(id)]).toEqual([prefix, time, true]);
          expect(isId(id.slice(0, -1))).toBe(false);
          expect(isPartialId(id.slice(0, -1))).toBe(true);
        },
      ),
    );
  });
});

describe('a lookup of an identifier', () => {
  it.each([
    ['evt', 'hasEvent', '/events'],
    ['whk', 'hasEndpoint', '/endpoints'],
    ['src', 'hasSource', '/sources'],
  ])('opens %s_ where it exists, in the sandbox too', async (prefix, port, path) => {
    const id = idAt(prefix, NOW);
    for (const environment of ['live', 'sandbox'] as const) {
      const has = async (where: string, given: string) => where === environment && given === id;
      expect(await lookUp(id, anOrganization({ [port]: has }))).toEqual({
        kind: 'found',
        environment,
        path: `${path}/${id}`,
      });
    }
  });

  it('opens a delivery by the event of its time, without asking each endpoint', async () => {
    const id = idAt('dlv', NOW);
    const delivery = { id, webhookId: WEBHOOK, channelId: null, receiverStatus: 'active' };
    const eventsBetween = inSandbox(anEventWith({ deliveries: [delivery] }));
    const endpointIds = async (environment: string) => (environment === 'live' ? [] : expect.fail());
    expect(await lookUp(id, anOrganization({ eventsBetween, endpointIds }))).toEqual({
      kind: 'found',
      environment: 'sandbox',
      path: `/deliveries/${WEBHOOK}/${id}`,
    });
  });

  it.each([
    ['of a deleted endpoint', { webhookId: WEBHOOK, channelId: null, receiverStatus: 'deleted' }],
    ['of a channel', { webhookId: null, channelId: idAt('chn', NOW), receiverStatus: 'active' }],
  ])('opens the event of a delivery %s', async (_, given) => {
    const id = idAt('dlv', NOW);
    const event = anEventWith({ deliveries: [{ id, ...given }] });
    expect(await lookUp(id, anOrganization({ eventsBetween: inSandbox(event) }))).toMatchObject({
      path: `/events/${event.id}`,
    });
  });

  it('opens a resent delivery, whose time is not that of its event, at its endpoint', async () => {
    const id = idAt('dlv', NOW - DAY);
    const hasDelivery: LookUpPorts['hasDelivery'] = async (environment, webhookId) =>
      environment === 'live' && webhookId === WEBHOOK;
    expect(await lookUp(id, anOrganization({ hasDelivery }))).toMatchObject({
      environment: 'live',
      path: `/deliveries/${WEBHOOK}/${id}`,
    });
  });

  it('opens the events of a conversation, and the event of a message', async () => {
    const [conversation, message] = [idAt('cnv', NOW), idAt('msg', NOW)];
    const toChannel = anEventWith({
      id: idAt('evt', NOW, '8'),
      type: 'channel.message',
      data: { conversationId: conversation, messageId: message },
    });
    const received = anEventWith({ data: { conversationId: conversation, messageId: message } });
    const organization = anOrganization({ eventsBetween: inSandbox(toChannel, received) });
    expect(await lookUp(conversation, organization)).toMatchObject({
      environment: 'sandbox',
      path: `/events?conversation=${conversation}`,
    });
    expect(await lookUp(message, organization)).toMatchObject({ path: `/events/${received.id}` });
  });

  it('opens a key for admins, and says to members why they do not see it', async () => {
    const id = idAt('key', NOW);
    expect(await lookUp(id, anOrganization({ hasKey: async (given) => given === id }))).toMatchObject({
      path: `/api-keys?key=${id}`,
    });
    expect(await lookUp(id, anOrganization({ hasKey: undefined }))).toMatchObject({ note: 'admins' });
  });

  it('says where it was looked for, and what is too old', async () => {
    const missing = (prefix: string, time: number, ports = {}) =>
      lookUp(idAt(prefix, time), anOrganization(ports));
    expect(await missing('evt', NOW - 31 * DAY)).toEqual({
      kind: 'missing',
      places: ['live', 'sandbox'],
      note: 'expired',
    });
    expect(await missing('whk', NOW - 31 * DAY)).toMatchObject({ note: undefined });
    expect(await missing('dlv', NOW)).toMatchObject({ note: 'deliveries' });
    expect(await missing('evt', NOW, { environments: ['live'] })).toMatchObject({ places: ['live'] });
    expect(await missing('org', NOW)).toMatchObject({ note: 'unknown' });
  });
});

describe('a search by words', () => {
  const searched = {
    pages: [
      { title: 'Endpoints', path: '/endpoints', environment: 'live' as const },
      { title: 'Usage', path: '/usage', environment: 'live' as const },
    ],
    endpoints: (['sandbox', 'live'] as const).map((environment) => ({
      environment,
      id: idAt('whk', NOW, environment === 'live' ? '1' : '2'),
      url: 'https://hooks.example.com/crm',
      description: 'Customer database',
    })),
    types: ['ticket.created', 'message.received'],
    named: [
      {
        kind: 'source' as const,
        id: 'src_1',
        title: 'Prices',
        path: '/sources/src_1',
        environment: 'live' as const,
      },
    ],
    environment: 'live' as const,
  };
  const pathsOf = (text: string) => resultsOf(text, searched).map(({ path }) => path);

  it('finds pages, event types, and endpoints by URL and description', () => {
    expect(pathsOf('usa')).toEqual(['/usage']);
    expect(pathsOf('TICKET')).toEqual(['/events?type=ticket.created']);
    expect(resultsOf('crm customer', searched).map(({ environment }) => environment)).toEqual([
      'live',
      'sandbox',
    ]);
    expect(pathsOf('price')).toEqual(['/sources/src_1']);
    expect(pathsOf('nothing of the kind')).toEqual([]);
  });

  it('lists the pages while nothing is typed', () => {
    expect(pathsOf(' ')).toEqual(['/endpoints', '/usage']);
  });
});
