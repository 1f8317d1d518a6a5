import { randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type * as z from 'zod/mini';
import { type RouteKey, routes } from '../../../functions/api/routes.ts';
import { EndpointId, type OrgId } from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import { ERASED_AT_ONCE } from '../../../functions/conversations/erasures.ts';
import { PUBLICATION } from '../../../functions/delivery/outbox.ts';
import { applyRetention } from '../../../functions/delivery/retention.ts';
import { SubscribableType } from '../../../functions/events/events.ts';
import type { Route } from '../../../functions/http/route.ts';
import { later, seconds } from '../../builders.ts';
import type { Call, Data } from '../store/api-handlers.ts';
import { everyRow, type Row, rowsIn } from '../store/rows.ts';
import { useApi } from './owners.ts';

const { tables, engine, enrol } = useApi();

/** An organization with endpoints that receive everything, and a channel of each kind. */
async function anOrganizationWithReceivers() {
  const { orgId, admin: session, call } = await enrol();
  const register = async (name: string, program: string) => {
    const url = `https://${name}.example.com/hooks?simulate=${program}`;
    const body = { url, events: SubscribableType.options };
    return EndpointId.parse((await call('registerWebhook', { body })).id);
  };
  const endpoints = {
    confirming: await register('confirming', '200'),
    failing: await register('failing', '500'),
    paused: await register('paused', '200'),
  };
  await call('updateWebhook', { params: { id: endpoints.paused }, body: { paused: true } });
  const createChannel = async (body: object) => String((await call('createChannel', { body })).id);
  const channel = await createChannel({
    name: 'App',
    kind: 'http',
    url: 'https://app.example.com/?simulate=500',
  });
  const widget = await createChannel({ name: 'Website', kind: 'web_widget' });
  return { orgId, session, call, endpoints, channel, widget };
}
type Owner = Awaited<ReturnType<typeof anOrganizationWithReceivers>>;

/** A conversation with a text wherever one can be, and the requests that wrote it. */
async function converse({ call }: Owner, channelId: string, text: string) {
  const sent: [RouteKey, Call][] = [];
  const write = async (route: RouteKey, given: Call): Promise<Data> => {
    const request = { ...given, idempotencyKey: randomUUID() };
    sent.push([route, request]);
    return call(route, request);
  };
  const params = {
    id: String((await write('createConversation', { body: { channelId, externalUserId: text } })).id),
  };
  const metadata = { note: text };
  await write('updateConversation', { params, body: { metadata } });
  for (const role of ['user', 'agent'])
    await write('createMessage', { params, body: { role, content: text, metadata } });
  // The second time, each changes nothing and is answered with what there is.
  for (const repeated of [1, 2]) await write('requestHandoff', { params, body: { reason: text + repeated } });
  for (const repeated of [1, 2])
    await write('resolveConversation', { params, body: { resolvedBy: text + repeated } });
  await write('createTicket', { body: { conversationId: params.id, reason: text, metadata } });
  return { ...params, sent };
}

/** Attempts what is new: once where attempts fail. @returns messages of deliveries that are still open */
async function deliver(most: number) {
  const messages = await engine.fanOut();
  for (const message of messages) await engine.attempt(message, most);
  return messages;
}

const change = (table: Table, { pk, sk }: Row, values: Row) =>
  table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: { pk, sk },
      UpdateExpression: `SET ${Object.keys(values).map((name) => `${name} = :${name}`)}`,
      ExpressionAttributeValues: Object.fromEntries(
        Object.entries(values).map(([name, value]) => [`:${name}`, value]),
      ),
    }),
  );

/** Receivers repeat the text, and simulated ones keep the request. */
async function repeatText(conversation: string, text: string): Promise<void> {
  for (const row of await rowsIn(tables.deliveries))
    if (row.conversationId === conversation && Object(row.attemptLog).length > 0)
      await change(tables.deliveries, row, {
        attemptLog: Object(row.attemptLog).map((attempt: object) => ({
          ...attempt,
          response: text,
          request: { method: 'POST', url: 'https://example.com', headers: {}, body: text },
        })),
      });
}

const isOf = (row: Row, orgId: OrgId) => JSON.stringify(row).includes(orgId);
const rowsWith = async (text: string) =>
  [...(await everyRow(tables)).values()].filter((row) => JSON.stringify(row).includes(text));

/** The GET requests about any of these ids whose answers show the text, errors included. */
async function findShown({ call, session }: Owner, ids: readonly string[], text: string): Promise<string[]> {
  const shown: string[] = [];
  for (const [key, route] of Object.entries(routes) as [RouteKey, Route][]) {
    if (route.method !== 'GET' || route.visitor) continue;
    const shape: Record<string, z.ZodMiniType> = Object(route.params).shape ?? {};
    const paths = Object.entries(shape).reduce<Record<string, string>[]>(
      (all, [name, schema]) =>
        all.flatMap((path) =>
          ids.filter((id) => schema.safeParse(id).success).map((id) => ({ ...path, [name]: id })),
        ),
      [{}],
    );
    const takesInclude = 'include' in (Object(route.query).shape ?? {});
    const queries = [{}, ...(takesInclude ? ['response', 'request', 'deliveries', 'record'] : [])].map(
      (include) => (typeof include === 'string' ? { include } : include),
    );
    const requests = paths.flatMap((params) => queries.map((query) => ({ params, query })));
    await Promise.all(
      requests.map(async ({ params, query }) => {
        const request = { ...(Object.keys(params).length > 0 && { params }), query };
        const reading = (route.role === undefined ? call : session)(key, request);
        const answer = JSON.stringify(await reading.catch((error: unknown) => String(error)));
        if (answer.includes(text)) shown.push(`${key} ${JSON.stringify(request)}`);
      }),
    );
  }
  return shown;
}

const listIds = (rows: Iterable<Row>): string[] => [
  ...new Set([...rows].flatMap((row) => JSON.stringify(row).match(/\b[a-z]{3}_[0-9a-f]{32}\b/g) ?? [])),
];

describe('an erased conversation', () => {
  it('is shown by no route from the response on, and its texts are in no table after the purge', async () => {
    const text = `marker-${randomUUID()}`;
    const owner = await anOrganizationWithReceivers();
    const other = await anOrganizationWithReceivers();
    const { call, channel, endpoints, orgId } = owner;
    const { id, sent } = await converse(owner, channel, text);
    const kept = await converse(owner, channel, `kept-${randomUUID()}`);
    await converse(other, other.channel, `other-${randomUUID()}`);
    const messages = await deliver(1);
    await repeatText(id, text);
    const before = await everyRow(tables);
    const ids = listIds([...before.values()].filter((row) => JSON.stringify(row).includes(id)));
    const shown = await findShown(owner, ids, text);
    expect(new Set(shown.map((request) => request.split(' ')[0]))).toHaveProperty('size', 14);

    await call('deleteConversation', { params: { id } });
    expect(await findShown(owner, ids, text)).toEqual([]);
    const expectGone = async (requests: typeof sent) => {
      for (const [route, request] of requests.filter(([key]) => 'idempotency' in routes[key]))
        await expect(call(route, request)).rejects.toThrow(/answered 410.*erased/);
    };
    await expectGone(sent);
    await expect(call('deleteConversation', { params: { id } })).resolves.toEqual({});

    // Messages of the channel were due again.
    for (const message of messages) if (message.orgId === orgId) await engine.attempt(message, 1);
    const toChannel = (await rowsIn(tables.deliveries)).filter(
      ({ webhookId, conversationId }) => webhookId === channel && conversationId === id,
    );
    expect(toChannel.map(({ terminalReason, attempts }) => [terminalReason, attempts])).toEqual([
      ['erased', 1],
    ]);

    await deliver(8);
    await engine.purge();
    expect(await rowsWith(text)).toEqual([]);
    await expectGone(sent);
    expect(JSON.stringify(engine.log.entries)).not.toContain(text);
    expect(JSON.stringify([messages, [...before.values()].map(readBusEvent)])).not.toContain(text);

    const after = await everyRow(tables);
    for (const [place, row] of before) if (isOf(row, other.orgId)) expect(after.get(place)).toEqual(row);
    expect(await call('readConversation', { params: { id: kept.id } })).toMatchObject({ id: kept.id });
    expect(await call('listMessages', { params: { id: kept.id } })).toHaveLength(2);

    const entries = await owner.session('listAuditLog', { query: { action: 'erasure.created' } });
    const [entry] = Object.values<Data>(Object(entries));
    const receipt = await call('readErasure', { params: { id: String(Object(entry?.target).id) } });
    expect(receipt).toMatchObject({ reason: 'conversation', conversationIds: [id] });
    expect(receipt.completedAt).not.toBeNull();
    const notifications = Object.values<Data>(Object(receipt.notifications));
    expect(new Map(notifications.map((one) => [one.webhookId, [one.status, one.confirmed]]))).toEqual(
      new Map([
        [endpoints.confirming, ['succeeded', true]],
        [endpoints.failing, ['exhausted', false]],
        [endpoints.paused, ['skipped', false]],
      ]),
    );
  });
});

describe('an erased contact', () => {
  it('is erased with all conversations, in receipts that name one another', async () => {
    const owner = await anOrganizationWithReceivers();
    const user = 'ada/100% é';
    const create = (externalUserId: string) =>
      owner.call('createConversation', { body: { channelId: 'web', externalUserId } });
    const kept = await create('another');
    const ids = new Set<unknown>();
    for (let count = 0; count < ERASED_AT_ONCE + 2; count += 1) ids.add((await create(user)).id);

    await owner.call('deleteContact', { params: { externalUserId: encodeURIComponent(user) } });
    expect(await owner.call('listConversations')).toMatchObject([{ id: kept.id }]);
    for (const externalUserId of [encodeURIComponent(user), 'nobody', '%'])
      expect(await owner.call('deleteContact', { params: { externalUserId } })).toEqual({});

    const entries = await owner.session('listAuditLog', { query: { action: 'erasure.created' } });
    const receipts = await Promise.all(
      Object.values<Data>(Object(entries)).map((entry) =>
        owner.call('readErasure', { params: { id: Object(entry.target).id } }),
      ),
    );
    const first = receipts.find(({ previousId }) => previousId === null);
    expect(receipts.map(({ previousId }) => previousId).toSorted()).toEqual([first?.id, null]);
    expect(new Set(receipts.flatMap(({ conversationIds }) => conversationIds))).toEqual(ids);
    expect(JSON.stringify([entries, receipts])).not.toContain(user);
  });
});

describe('retentionDays', () => {
  it('erase what had no message for so long, once a day, and can be ended', async () => {
    const owner = await anOrganizationWithReceivers();
    const { id } = await converse(owner, 'web', 'text');
    const set = (retentionDays: number | null) =>
      owner.session('updateOrganization', { body: { retentionDays } });
    const runAfter = (days: number) => {
      const now = () => later(new Date(), seconds(days * 86_400));
      return applyRetention(tables, { log: engine.log, now })(() => true);
    };
    const isThere = async () => Object.values(Object(await owner.call('listConversations'))).length === 1;

    expect(await set(30)).toMatchObject({ retentionDays: 30 });
    await runAfter(29);
    expect(await isThere()).toBe(true);
    await set(null);
    await runAfter(31);
    expect(await isThere()).toBe(true);
    await set(30);
    await runAfter(31);
    expect(await isThere()).toBe(false);
    const to = later(new Date(), seconds(40 * 86_400)).toISOString();
    const [entry] = Object.values<Data>(
      Object(await owner.session('listAuditLog', { query: { action: 'erasure.created', to } })),
    );
    expect(entry).toMatchObject({ actor: { type: 'service' }, changes: [{ before: [id] }] });
    await expect(set(29)).rejects.toThrow(/400/);
  });
});

/** What the bus gets of a row. */
function readBusEvent(row: Row): unknown {
  try {
    return PUBLICATION.parse(row);
  } catch {
    return undefined;
  }
}
