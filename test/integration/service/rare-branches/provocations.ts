import { until } from 'aws-local/test/until.ts';
import { expect } from 'vitest';
import { EndpointId, newId, ReceiverId } from '../../../../functions/aws/ids.ts';
import type { Table } from '../../../../functions/aws/table.ts';
import { keys } from '../../../../functions/tenancy/keys.ts';
import { queueEvent, withoutMessages } from '../../../support/delivery-messages.ts';
import { aSandbox, aTenant, type Tenant } from '../../../support/tenant.ts';
import { type Page, pageOf, paragraph, startPage } from '../background/page.ts';
import type { Place } from '../place.ts';

/**
 * What makes functions take rare branches, in the name of one organization. Each resolves when the work is
 * done.
 */
export function provocations(place: Place) {
  const service = () => place.service();
  let tenant: Tenant;
  let endpoint: string;
  let page: Page;
  /** Cursor of a listing. */
  let knownKey: string;

  async function prepare(): Promise<void> {
    tenant = place.keep(await aTenant(service()));
    page = await startPage(service().tls, pageOf(paragraph('first')));
    place.keep({ close: () => page.stop() });
    endpoint = (await tenant.api.register(tenant.receiver, ['conversation.created'])).id;
  }

  const findRows = (table: string, text: string) => service().rows([text], table);

  /** Changes the stored endpoint. */
  async function mark(id: string, marks: object): Promise<void> {
    const [row = expect.fail('the endpoint is not stored')] = (await findRows('Service', id)).filter(
      ({ item }) => item.sk === id,
    );
    await service().rewrite({ ...row, item: { ...row.item, ...marks } });
  }

  /** Waits for so many succeeded deliveries of an endpoint. */
  const waitUntilEnded = (id: string, count: number) =>
    until(`${count} deliveries of ${id} to succeed`, async () => {
      const all = await tenant.api.all(`/api/v1/webhooks/${id}/deliveries`);
      return all.length >= count && all.every(({ status }) => status === 'succeeded') && all;
    });

  async function deliver(): Promise<void> {
    const before = await tenant.api.all(`/api/v1/webhooks/${endpoint}/deliveries`);
    await tenant.api.createConversation();
    const all = await waitUntilEnded(endpoint, before.length + 1);
    expect(all).toEqual(all.map((delivery) => ({ ...delivery, attempts: 1 })));
  }

  async function settleWithEndpoint(): Promise<void> {
    await mark(endpoint, { consecutiveFailures: 1 });
    await deliver();
  }

  async function listKeys(): Promise<void> {
    expect((await tenant.admin.get('/api/settings/api-keys')).status).toBe(200);
  }

  async function sendMessage(): Promise<void> {
    const conversation = `/api/v1/conversations/${await tenant.api.createConversation()}`;
    const { status } = await tenant.api.post(`${conversation}/messages`, { role: 'user', content: 'Hello' });
    expect(status).toBe(201);
    expect(await tenant.api.all(`${conversation}/messages`)).toHaveLength(1);
  }

  const meterIsIdle = () => until('the meter to be idle', () => service().queued('Bus/Meter/Queue') === 0);
  async function countUsage(): Promise<void> {
    await deliver();
    await meterIsIdle();
  }

  async function checkSource(): Promise<void> {
    const { body } = await tenant.api.post('/api/v1/knowledge/sources', { kind: 'url', url: page.url });
    await until('the import', async () => {
      const source = await tenant.api.get(`/api/v1/knowledge/sources/${body.data?.id}`);
      return source.body.data?.version === 1;
    });
  }

  async function purge(): Promise<void> {
    const sandbox = place.keep(await aSandbox(service(), tenant));
    await sandbox.api.createConversation();
    expect((await tenant.admin.post('/api/settings/sandbox/reset')).status).toBe(200);
    await until('the purge', async () => {
      await service().invoke('purge');
      const { body } = await tenant.admin.get('/api/settings/sandbox');
      return Object(body.data).purge === null;
    });
  }

  /** A redelivery job resends an event whose redelivery has failed. */
  async function redeliver(): Promise<void> {
    const { id } = await tenant.api.register(tenant.receiver, ['ticket.created']);
    await tenant.api.post(`/api/v1/webhooks/${id}/test`);
    const [first] = await waitUntilEnded(id, 1);
    const [stored = expect.fail('the delivery is not stored')] = await findRows('Deliveries', id);
    const failed = { ...stored.item, status: 'exhausted', terminalReason: 'max_attempts' };
    const again = newId('dlv', new Date());
    const key = keys.delivery(EndpointId.parse(id), 0, again);
    await service().rewrite({ ...stored, item: failed });
    await service().rewrite({ ...stored, item: { ...failed, ...key, id: again, redeliveryOf: first?.id } });
    const jobs = `/api/v1/webhooks/${id}/redeliveries`;
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const { body } = await tenant.api.post(jobs, { from });
    const job = await until('the job to end', async () => {
      const { data } = (await tenant.api.get(`${jobs}/${body.data?.id}`)).body;
      return data?.status !== 'running' && data;
    });
    expect(job).toMatchObject({ status: 'done', examined: 2, redelivered: 1 });
  }

  /** Gives the dispatcher a message of a queue although the endpoint belongs to another queue. */
  async function move(from: 'Fresh' | 'Retry', marks: object): Promise<void> {
    const webhookId = ReceiverId.parse((await tenant.api.register(tenant.receiver, ['ticket.created'])).id);
    await mark(webhookId, marks);
    const all = await service().rows([tenant.orgId]);
    // Only the names of the tables are used: the rows are written by the service's own client.
    const named = (table: string) =>
      ({ name: all.find((row) => row.table.includes(`Tables${table}`))?.table }) as Table;
    const { rows, delivery } = withoutMessages(
      { orgId: tenant.orgId, endpoint: webhookId },
      { outbox: named('Outbox'), deliveries: named('Deliveries') },
    );
    for (const row of rows) await service().rewrite(row);
    const batch = queueEvent(service().queueArn(`Delivery/${from}`), [delivery]);
    expect(await service().invoke('dispatch', batch)).toEqual({ batchItemFailures: [] });
    await waitUntilEnded(webhookId, 1);
  }
  const LIST = '/api/v1/conversations?limit=1';
  /** A listing with its own cursor, for which the function reads the keyring. */
  async function listWithKnownKey(): Promise<void> {
    for (let times = 0; times < 2; times += 1) await tenant.api.createConversation();
    knownKey = String((await tenant.api.get(LIST)).body.nextCursor);
    expect((await tenant.api.get(`${LIST}&cursor=${knownKey}`)).status).toBe(200);
  }

  /** A listing with a cursor that names a version after the newest one. */
  async function listWithUnknownKey(): Promise<void> {
    const bytes = Buffer.from(knownKey, 'base64url');
    bytes[0] = 9;
    const { status } = await tenant.api.get(`${LIST}&cursor=${bytes.toString('base64url')}`);
    expect(status).toBe(400);
  }

  return {
    prepare,
    deliver,
    settleWithEndpoint,
    listKeys,
    sendMessage,
    countUsage,
    checkSource,
    purge,
    redeliver,
    move,
    listWithKnownKey,
    listWithUnknownKey,
  };
}
export type Provocations = ReturnType<typeof provocations>;
