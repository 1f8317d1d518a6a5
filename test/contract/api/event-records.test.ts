import { PATIENCE } from 'aws-local/test/patience.ts';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { remove } from '../../../functions/aws/table.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { casesOf } from '../../support/cases.ts';
import type { Call, Caller, Data } from '../store/api-handlers.ts';
import { useApi } from './owners.ts';

const { tables, api, enrol } = useApi();

const SCOPES = ['write:webhooks', 'write:conversations'] as const;
/** Conversations of each writer: every second one is opened again. */
const ROUNDS = casesOf(2, 5);
const WITH_RECORD = { include: 'record', limit: '100' };

async function anOwner() {
  const { tenant, admin, call } = await enrol(SCOPES);
  const withKey = async (scopes: string[]) =>
    api.caller(String((await admin('createApiKey', { body: { name: 'A key', scopes } })).secretOnce));
  return { tenant, admin, withKey, call };
}

type Listed = Data & { id: string; type: string; data: Data; record?: Data; recordOmitted?: string };
const list = async (call: Caller, query: Call['query'] = WITH_RECORD): Promise<Listed[]> =>
  Object.values(await call('listEvents', { query })) as Listed[];

/** Causes an event of each type that has a record. */
async function converse(call: Caller) {
  const conversation = await call('createConversation', {
    body: { channelId: 'web', externalUserId: 'ada' },
  });
  const params = { id: String(conversation.id) };
  const message = await call('createMessage', { params, body: { role: 'user', content: 'Hello' } });
  const escalation = await call('requestHandoff', { params, body: { reason: 'asked' } });
  const ticket = await call('createTicket', { body: { conversationId: conversation.id } });
  const resolved = await call('resolveConversation', { params });
  return {
    params,
    records: {
      'conversation.created': resolved,
      'message.received': message,
      'handoff.requested': escalation,
      'ticket.created': ticket,
      'conversation.resolved': resolved,
    } as Record<string, Data>,
  };
}

describe('an event with its record', () => {
  it('has it as its own operation returns it, in the list and alone', async () => {
    const { call } = await anOwner();
    const { records } = await converse(call);

    const events = await list(call);
    expect(Object.fromEntries(events.map(({ type, record }) => [type, record]))).toEqual(records);
    for (const { id, record } of events) {
      const alone = await call('readEvent', { params: { id }, query: { include: 'record' } });
      expect(alone.record).toEqual(record);
    }
    for (const event of await list(call, {})) expect(event).not.toHaveProperty('record');
    for (const event of events) expect(event).not.toHaveProperty('recordOmitted');
  });

  it('comes without it and says so: without the scope, when it was deleted, and where there is none', async () => {
    const owner = await anOwner();
    const { call, tenant } = owner;
    const { params, records } = await converse(call);
    const endpoint = await call('registerWebhook', {
      body: { url: `https://${crypto.randomUUID()}.example.com/`, events: ['ticket.created'] },
    });
    await call('testWebhook', { params: { id: String(endpoint.id) } });
    await call('testWebhook', { params: { id: String(endpoint.id) }, body: { type: 'ticket.created' } });
    const omissions = async (caller: Caller) =>
      (await list(caller)).map(({ type, example, record, recordOmitted }) => {
        expect(record === undefined).toBe(recordOmitted !== undefined);
        return `${type}${example ? ' example' : ''}: ${recordOmitted}`;
      });
    const NONE = ['ticket.created example: no_record', 'webhook.test: no_record'];

    expect(await omissions(await owner.withKey(['read:webhooks']))).toEqual([
      ...NONE,
      ...Object.keys(records)
        .toReversed()
        .map((type) => `${type}: missing_scope`),
    ]);
    // What an erasure deletes first.
    await remove(tables.service, keys.conversation(tenant, params.id as never));
    expect(await omissions(call)).toEqual([
      ...NONE,
      ...Object.keys(records)
        .toReversed()
        .map((type) => `${type}: deleted`),
    ]);
  });

  it('is of the caller’s environment, and gone after a reset', async () => {
    const { admin, call } = await anOwner();
    const { key } = await admin('provisionSandbox', { body: { name: 'Sandbox', scopes: SCOPES } });
    const sandbox = api.caller(String(Object(key).secretOnce));
    const { records } = await converse(sandbox);
    const events = await list(sandbox);
    const ids = events.map(({ id }) => id).join();

    expect(events.map(({ record }) => record)).toEqual(Object.values(records).toReversed());
    expect(await list(call, { ids, ...WITH_RECORD })).toEqual([]);
    await admin('resetSandbox');
    for (const query of [WITH_RECORD, { ids, ...WITH_RECORD }])
      expect(await list(sandbox, query)).toEqual([]);
    await expect(sandbox('readEvent', { params: { id: ids.split(',')[0] ?? '' } })).rejects.toThrow('404');
  });

  it('is never older than the event, beside 20 writers', { timeout: 60_000 * PATIENCE }, async () => {
    const { call } = await anOwner();
    let writing = true;
    let checked = 0;
    const written = Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const { params } = await converse(call);
          // Opens it again, so that a later event finds another state.
          if (round % 2 === 1)
            await call('createMessage', { params, body: { role: 'user', content: 'More' } });
        }
      }),
    ).finally(() => {
      writing = false;
    });
    do {
      const events = await list(call);
      for (const { type, createdAt, data, record, recordOmitted } of events) {
        expect([type, recordOmitted]).toEqual([type, undefined]);
        const ids = Object.values(data);
        expect(ids).toContain(record?.id);
        if (type === 'conversation.resolved' && record?.status === 'resolved')
          expect(record.resolvedAt).toBe(createdAt);
        checked += 1;
      }
    } while (writing);
    await written;
    // All are committed: what is open was opened by a message after its resolution.
    const resolutions = await list(call, { ...WITH_RECORD, type: 'conversation.resolved' });
    expect(resolutions.filter(({ record }) => record?.status === 'resolved')).toHaveLength(
      20 * Math.ceil(ROUNDS / 2),
    );
    expect(checked).toBeGreaterThan(200);
  });

  it('ends a page early where records are large', async () => {
    const { call, tenant } = await anOwner();
    const { params } = await converse(call);
    const body = { role: 'user', content: 'x'.repeat(100_000) };
    for (let count = 0; count < 25; count += 1) await call('createMessage', { params, body });
    const { withRecords } = await import('../../../functions/api/events/records.ts');
    const { eventLog } = await import('../../../functions/events/event-log.ts');
    const now = new Date(Date.now() + 60_000);
    const types = ['message.received'] as const;

    for (const read of ['listNewest', 'listOldest'] as const) {
      const sizes: number[] = [];
      for (let after: string | undefined, isLast = false; !isLast; ) {
        const page = await eventLog(tables.outbox, tables.service)[read](
          tenant,
          { limit: 100, after },
          { types },
          now,
        );
        const shown = await withRecords(tenant, page, () => true);
        sizes.push(shown.items.length);
        isLast = shown.next === undefined;
        if (!isLast)
          expect([shown.next, shown.follow]).toEqual([
            shown.items.at(-1)?.id,
            read === 'listOldest' ? shown.next : undefined,
          ]);
        after = shown.next;
      }
      expect(sizes.reduce((sum, size) => sum + size)).toBe(26);
      expect(sizes.every((size) => size <= 20)).toBe(true);
    }
  });
});

describe('events by their ids', () => {
  it('come in the order of the list, each once, those that do not exist left out, however many of 100', async () => {
    const { call } = await anOwner();
    for (let count = 0; count < 20; count += 1) await converse(call);
    const ids = (await list(call, { limit: '100' })).map(({ id }) => id);
    expect(ids).toHaveLength(100);
    const read = async (given: string[], query = {}) =>
      (await list(call, { ids: given.join(), ...query })).map(({ id }) => id);

    expect(await read(ids.toReversed())).toEqual(ids);
    expect(await read(ids.slice(0, 3), { order: 'asc' })).toEqual(ids.slice(0, 3).toReversed());
    const [first = '', second = ''] = ids;
    expect(await read([second, newId('evt', new Date()), first, second])).toEqual([first, second]);
    for (const wrong of [[...ids, newId('evt', new Date())], [first, 'evt_1'], [''], [`${first},`]])
      await expect(read(wrong)).rejects.toThrow(/400.*VALIDATION_ERROR.*ids/);
  });
});
