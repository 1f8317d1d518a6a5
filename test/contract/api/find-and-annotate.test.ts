import { beforeAll, describe, expect, it } from 'vitest';
import { ConversationId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { type Conversation, conversationStore } from '../../../functions/conversations/conversations.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { aConversation } from '../../builders.ts';
import type { TestTables } from '../../engines.ts';
import type { Api, Caller, Data } from '../store/api-handlers.ts';
import { rowsIn } from '../store/rows.ts';
import { useApi } from './owners.ts';

const { tables, api, enrol } = useApi();
let tenant: Tenant;
let call: Caller;
let ask: ReturnType<Api['asker']>;

beforeAll(async () => {
  const { secret, ...owner } = await enrol();
  ({ tenant, call } = owner);
  ask = api.asker(secret);
});

const MINE = { channelId: 'web', externalUserId: 'ada' };
const start = async (body: object = {}) => {
  const { id } = await call('createConversation', { body: { ...MINE, ...body } });
  return { id: ConversationId.parse(id) };
};
/** Stores a conversation that was not updated for minutes. */
async function storeOld(changes: Partial<Conversation> = {}): Promise<{ id: ConversationId }> {
  const conversation = aConversation({ ...MINE, ...changes });
  await committer(tables.service.client)(conversationStore(tables.service).add(tenant, conversation));
  return { id: conversation.id };
}

describe('a cursor', () => {
  const QUERIES: Record<string, string>[] = [
    {},
    { externalUserId: 'ada' },
    { channelId: 'web' },
    { channelId: 'ada' },
    { status: 'open' },
    { status: 'open,resolved' },
    { updatedAfter: '2026-11-20T09:00:00.000Z' },
    { updatedBefore: '2126-11-20T09:00:00.000Z' },
    { externalUserId: 'ada', channelId: 'web', status: 'open' },
  ];

  it('continues the list with its filters, and is refused with any others', async () => {
    for (let count = 0; count < 12; count += 1) await start();
    for (const query of QUERIES) {
      const { nextCursor } = await ask('listConversations', { query: { ...query, limit: '1' } });
      if (query.channelId === 'ada') expect(nextCursor).toBeNull();
      else
        for (const other of QUERIES) {
          const listed = await ask('listConversations', { query: { ...other, cursor: String(nextCursor) } });
          expect(listed, JSON.stringify([query, other])).toMatchObject(
            other === query
              ? { status: 200 }
              : { status: 400, error: { details: [{ field: 'cursor', code: 'invalid_format' }] } },
          );
        }
    }
  });
});

describe('messages of a conversation', () => {
  it('are listed in either order, in pages of 3 while others are written, with cursors of their own', async () => {
    const params = await start();
    const ids: unknown[] = [];
    const post = async () =>
      (await call('createMessage', { params, body: { role: 'user', content: 'Hello' } })).id;
    for (let count = 0; count < 8; count += 1) ids.push(await post());

    for (const order of ['asc', 'desc']) {
      const expected = order === 'asc' ? [...ids] : ids.toReversed();
      const seen: unknown[] = [];
      let cursor: string | null | undefined;
      do {
        const query = { order, limit: '3', ...(cursor && { cursor }) };
        const { data, nextCursor } = await ask('listMessages', { params, query });
        seen.push(...(data as Data[]).map(({ id }) => id));
        cursor = nextCursor as string | null;
        if (seen.length <= expected.length) ids.push(await post());
        if (cursor) {
          const others = { params, query: { order: order === 'asc' ? 'desc' : 'asc', cursor } };
          expect(await ask('listMessages', others)).toMatchObject({ status: 400 });
        }
      } while (cursor !== null);
      expect(seen.slice(0, expected.length)).toEqual(expected);
      expect(new Set(seen).size).toBe(seen.length);
    }
  });
});

describe('updateConversation', () => {
  const before = { channelId: 'web', metadata: { order: '1' } };
  it.each<[string, object, object]>([
    ['changes the channel and keeps the metadata', { channelId: 'mail' }, { channelId: 'mail' }],
    ['replaces all metadata', { metadata: { ticket: '' } }, { metadata: { ticket: '' } }],
    ['removes all metadata', { metadata: {} }, { metadata: {} }],
    ['changes both', { channelId: 'mail', metadata: {} }, { channelId: 'mail', metadata: {} }],
    ['takes null for what is omitted', { metadata: null, channelId: 'mail' }, { channelId: 'mail' }],
  ])('%s, and sets updatedAt', async (_, body, expected) => {
    const params = await storeOld(before);
    const stored = await call('readConversation', { params });

    const updated = await call('updateConversation', { params, body });

    expect(updated).toEqual({
      ...stored,
      ...expected,
      updatedAt: expect.not.stringMatching(String(stored.updatedAt)),
    });
    expect(await call('readConversation', { params })).toEqual(updated);
  });

  it.each([{}, before, { metadata: { order: '1' } }])('changes nothing by %j', async (body) => {
    const params = await storeOld(before);
    const stored = await call('readConversation', { params });

    expect(await call('updateConversation', { params, body })).toEqual(stored);
    expect(await call('readConversation', { params })).toEqual(stored);
  });

  it('sends the messages of agents to the new channel from then on', async () => {
    const body = { name: 'Messenger', kind: 'http', url: 'https://example.com/channel' };
    const [first, second] = [await call('createChannel', { body }), await call('createChannel', { body })];
    const params = await start({ channelId: first.id });
    const say = (content: string) => call('createMessage', { params, body: { role: 'agent', content } });
    await say('to the first');
    await call('updateConversation', { params, body: { channelId: second.id } });
    await say('to the second');

    const { data } = await ask('listEvents', { query: { type: 'channel.message', limit: '2' } });
    expect((data as Data[]).map(({ data }) => data)).toMatchObject([
      { channelId: second.id, content: 'to the second' },
      { channelId: first.id, content: 'to the first' },
    ]);
  });

  it('keeps a state change and a message of the same moment', async () => {
    const params = await storeOld(before);
    await Promise.all([
      call('updateConversation', { params, body: { metadata: { a: 'b' } } }),
      call('resolveConversation', { params, body: {} }),
      call('createMessage', { params, body: { role: 'user', content: 'Hello' } }),
    ]);
    const { status, metadata } = await call('readConversation', { params });
    expect([metadata, ['open', 'resolved'].includes(String(status))]).toEqual([{ a: 'b' }, true]);
  });

  it.each([
    ['a channel that the organization does not have', { channelId: `chn_${'0'.repeat(32)}` }, 400],
    [
      'too many entries',
      { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [i, ''])) },
      400,
    ],
    ['the name of the prototype', { metadata: JSON.parse('{"__proto__":"x"}') }, 400],
  ])('refuses %s', async (_, body, status) => {
    const params = await storeOld(before);
    expect(await ask('updateConversation', { params, body })).toMatchObject({ status });
    expect(await call('readConversation', { params })).toMatchObject(before);
  });

  it('does not find a conversation that is none of the organization', async () => {
    const params = { id: aConversation().id };
    expect(await ask('updateConversation', { params, body: {} })).toMatchObject({ status: 404 });
    expect(await ask('updateConversation', { params, body: before })).toMatchObject({ status: 404 });
  });
});

describe('updateTicket', () => {
  it('closes a ticket, opens it again, and replaces its metadata', async () => {
    const made = await call('createTicket', { body: { reason: 'none', metadata: { a: 'b' } } });
    const params = { id: String(made.id) };
    expect(made).toMatchObject({ status: 'open', metadata: { a: 'b' } });

    for (const body of [
      { status: 'closed' },
      { metadata: {} },
      { status: 'open', metadata: { c: 'd' } },
      {},
    ]) {
      const stored = await call('readTicket', { params });
      expect(await call('updateTicket', { params, body })).toEqual({ ...stored, ...body });
      expect(await call('readTicket', { params })).toEqual({ ...stored, ...body });
    }
    const unknown = { id: `tkt_${'0'.repeat(32)}` };
    expect(await ask('updateTicket', { params: unknown, body: {} })).toMatchObject({ status: 404 });
    expect(await ask('updateTicket', { params, body: { status: 'resolved' } })).toMatchObject({
      status: 400,
    });
  });
});

it('metadata is in no event', async () => {
  const metadata = { name: 'a marker of metadata' };
  const params = await start({ metadata });
  await call('createMessage', { params, body: { role: 'user', content: 'Hello', metadata } });
  await call('createTicket', { body: { metadata } });
  await call('updateConversation', { params, body: { metadata: { ...metadata, b: '' } } });

  const texts = async (table: keyof TestTables) => JSON.stringify(await rowsIn(tables[table]));
  expect(await texts('service')).toContain(metadata.name);
  expect(await texts('outbox')).not.toContain(metadata.name);
});

it('a ticket of a conversation of another organization is refused like that of an unknown one', async () => {
  const foreign = await (await enrol()).call('createConversation', { body: MINE });
  const refusals = await Promise.all(
    [foreign.id, aConversation().id].map((conversationId) =>
      ask('createTicket', { body: { conversationId } }),
    ),
  );
  const error = { type: 'NOT_FOUND', message: 'No such conversation.' };
  expect(refusals).toMatchObject([
    { status: 404, error },
    { status: 404, error },
  ]);
  const own = await start();
  const made = await call('createTicket', { body: { conversationId: own.id } });
  const { data } = await ask('listEvents', { query: { type: 'ticket.created', limit: '1' } });
  expect(data).toMatchObject([{ data: { ticketId: made.id, conversationId: own.id } }]);
});

describe('a message for a channel', () => {
  const HTTP = { kind: 'http', name: 'Shop', url: 'https://messages.example.com/' };
  const createChannel = async (body: object, owner = call) => (await owner('createChannel', { body })).id;

  it.each<[role: string, isFor: boolean, channel: string, create: () => Promise<unknown>]>([
    ['agent', true, 'an http channel', () => createChannel(HTTP)],
    ['assistant', true, 'an http channel', () => createChannel(HTTP)],
    ['user', false, 'an http channel', () => createChannel(HTTP)],
    ['system', false, 'an http channel', () => createChannel(HTTP)],
    ['agent', false, 'a web widget', () => createChannel({ kind: 'web_widget', name: 'Widget' })],
    ['agent', false, 'a label of the customer’s own', async () => 'web'],
    [
      'agent',
      false,
      'a channel that is gone',
      async () => {
        const id = String(await createChannel(HTTP));
        return { id, gone: () => call('deleteChannel', { params: { id } }) };
      },
    ],
  ])('of the role %s is made: %s, on %s', async (role, isFor, _channel, create) => {
    const made = await create();
    const channelId = Object(made).id ?? made;
    const params = await start({ channelId });
    await Object(made).gone?.();
    const { id } = await call('createMessage', { params, body: { role, content: 'Hello' } });

    const { data } = await ask('listEvents', { query: { limit: '2' } });
    const events = (data as Data[]).filter((event) => Object(event.data).messageId === id);
    expect(new Map(events.map((event) => [event.type, event.data])).get('channel.message')).toEqual(
      isFor
        ? {
            channelId,
            conversationId: params.id,
            messageId: id,
            externalUserId: 'ada',
            role,
            content: 'Hello',
          }
        : undefined,
    );
    expect(events.map(({ type }) => type)).toContain('message.received');
  });

  it('on a channel of another organization is made for nobody', async () => {
    const channelId = String(await createChannel(HTTP, (await enrol()).call));
    const params = await storeOld({ channelId });
    const { id } = await call('createMessage', { params, body: { role: 'agent', content: 'Hello' } });
    const { data } = await ask('listEvents', { query: { limit: '1' } });
    expect(data).toMatchObject([{ type: 'message.received', data: { messageId: id } }]);
  });
});
