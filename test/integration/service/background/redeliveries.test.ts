import { PATIENCE } from 'aws-local/test/patience.ts';
import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { DeliveryId, EndpointId, OrgId, ReceiverId } from '../../../../functions/aws/ids.ts';
import type { Table } from '../../../../functions/aws/table.ts';
import { keys } from '../../../../functions/tenancy/keys.ts';
import { type ReceivedDelivery, startReceiver } from '../../../../packages/cli/src/receiver/receiver.ts';
import type { ApiClient, Data } from '../../../support/api.ts';
import { casesOf } from '../../../support/cases.ts';
import { withoutMessages } from '../../../support/delivery-messages.ts';
import type { Row } from '../../../support/tables.ts';
import { aTenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';

/** Failures that a job resends. */
const MANY = casesOf(140, 300);
/** How many of them were delivered before; the others are stored. */
const REAL = casesOf(1, MANY);
const asFailed = ({ dueIn: _, dueKey: __, ...item }: Row['item']): Row['item'] => ({
  terminalAt: item.createdAt,
  ...item,
  status: 'exhausted',
  terminalReason: 'max_attempts',
});
const AN_HOUR_AGO = () => new Date(Date.now() - 3_600_000).toISOString();

/* Redelivery jobs: they resend all failed deliveries of a time span. */
const { service, keep } = aPlace();
/**
 * An endpoint with so many deliveries of different events, stored as if all attempts had failed.
 * @param copies more of them, of events that the endpoint never received
 */
async function failures(count: number, copies = 0) {
  const { api, orgId } = keep(await aTenant(service()));
  const received: ReceivedDelivery[] = [];
  const { url, stop } = await startReceiver({
    ...service().tls,
    onDelivery: (delivery) => received.push(delivery),
  });
  keep({ close: stop });
  const { id } = await api.register(url, ['ticket.created']);
  const path = `/api/v1/webhooks/${id}`;
  let next = 0;
  const lane = async () => {
    while (next++ < count) await api.post(`${path}/test`);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  const rows = await until(`${count} deliveries to succeed`, async () => {
    const rows = await findRows('Deliveries', id);
    return rows.length === count && rows.every(({ item }) => item.status === 'succeeded') && rows;
  });
  for (const { table, item } of rows)
    await service().rewrite({
      table,
      item: asFailed(item),
    });
  const [{ table, item } = expect.fail('there is a delivery')] = rows;
  const [event = expect.fail('its event is stored')] = await findRows('Outbox', String(item.eventId));
  const tables = { outbox: { name: event.table } as Table, deliveries: { name: table } as Table };
  for (let copy = 0; copy < copies; copy += 1)
    for (const row of withoutMessages({ orgId, endpoint: ReceiverId.parse(id) }, tables).rows)
      await service().rewrite(row.table === table ? { table, item: asFailed(row.item) } : row);
  return { api, orgId, id, path, received };
}

const findRows = (table: string, text: string): Promise<Row[]> => service().rows([text], table);

async function start(api: ApiClient, path: string): Promise<Data> {
  const { status, body } = await api.post(`${path}/redeliveries`, { from: AN_HOUR_AGO() });
  expect(status).toBe(202);
  return body.data ?? expect.fail('a redelivery was to be answered');
}
const read = async (api: ApiClient, path: string, id: unknown): Promise<Data> =>
  (await api.get(`${path}/redeliveries/${id}`)).body.data ?? expect.fail('it was to be there');
const waitUntilEnded = (api: ApiClient, path: string, job: Data) =>
  until(`the end of ${job.id}`, async () => {
    const storedJob = await read(api, path, job.id);
    return storedJob.status !== 'running' && storedJob;
  });

describe.concurrent('a redelivery job', { timeout: 300_000 * PATIENCE }, () => {
  it('resends each event once, and nothing again when it restarts', async () => {
    const { api, id, path, received } = await failures(REAL, MANY - REAL);
    const job = await start(api, path);
    expect(job).toMatchObject({ status: 'running', examined: 0, progress: 0, finishedAt: null });

    const done = await waitUntilEnded(api, path, job);

    expect(done).toMatchObject({
      status: 'done',
      reason: null,
      examined: MANY,
      redelivered: MANY,
      progress: 1,
    });
    expect((await api.get(`${path}/redeliveries`)).body.data).toEqual([done]);
    const all = await until('all to be delivered', async () => {
      const listed = await api.all(`${path}/deliveries`);
      const made = listed.filter(({ redeliveryOf }) => redeliveryOf !== null);
      return made.length === MANY && made.every(({ status }) => status === 'succeeded') && listed;
    });
    const failed = all.filter(({ redeliveryOf }) => redeliveryOf === null);
    const made = all.filter(({ redeliveryOf }) => redeliveryOf !== null);
    expect(new Set(made.map(({ redeliveryOf }) => redeliveryOf))).toEqual(
      new Set(failed.map((one) => one.id)),
    );
    expect(new Set(made.map(({ eventId }) => eventId)).size).toBe(MANY);
    // Created after the job, so they are listed first.
    expect(made.filter(({ createdAt }) => String(createdAt) < String(job.createdAt))).toEqual([]);
    expect(all.slice(0, MANY).every(({ redeliveryOf }) => redeliveryOf !== null)).toBe(true);
    // On a busy machine one may arrive twice.
    const seen = new Set(received.map(({ headers }) => headers['webhook-delivery-id']));
    const unseen = all.filter(({ id: delivery }) => !seen.has(String(delivery)));
    expect(unseen.filter(({ redeliveryOf }) => redeliveryOf !== null)).toEqual([]);
    expect(unseen).toHaveLength(MANY - REAL);
    const findBody = (delivery: unknown) =>
      received.find(({ headers }) => headers['webhook-delivery-id'] === delivery)?.body.toString();
    const again =
      made.find(({ redeliveryOf }) => seen.has(String(redeliveryOf))) ??
      expect.fail('one was to resend a received event');
    expect(findBody(again.id)).toBe(findBody(again.redeliveryOf));

    // The job starts over, and recognizes all its deliveries.
    const [stored] = (await findRows('Service', String(job.id))).filter(({ item }) => item.sk === job.id);
    const { place: _, finishedAt: __, ...item } = stored?.item ?? expect.fail('the job was to be stored');
    const lost = { ...item, status: 'running', examined: 0, redelivered: 0, round: 1 };
    await service().rewrite({ table: String(stored?.table), item: lost });
    // Its message is lost too, long enough ago for the next run to resume the job.
    const stale = {
      table: String(stored?.table),
      item: {
        ...keys.redeliveryRun({
          orgId: OrgId.parse(item.orgId),
          generation: 0,
          webhookId: EndpointId.parse(id),
        }),
        ...{ id: job.id, orgId: item.orgId, generation: 0, webhookId: id, remindedAt: AN_HOUR_AGO() },
      },
    };
    await service().rewrite(stale);
    await service().invoke('resume-redelivery-jobs');
    expect(await waitUntilEnded(api, path, job)).toMatchObject({ examined: MANY, redelivered: MANY });
    expect(await api.all(`${path}/deliveries`)).toHaveLength(2 * MANY);

    const isKept = async () =>
      (await findRows('Service', String(job.id))).some(({ item: { pk } }) => pk === stale.item.pk);
    expect(await isKept()).toBe(false);
    // As left by a worker that records a sent message after the job has ended.
    await service().rewrite(stale);
    await service().invoke('resume-redelivery-jobs');
    expect(await isKept()).toBe(false);
  });
});

/* Recovery from lost work: the test writes a row as a killed worker leaves it. */
const place = aPlace();

it('a delivery that is due without a message is sent by the reconciler', async () => {
  const { api, receiver } = await place.tenant();
  /** Waits for the row of a delivery that succeeded. */
  const succeeded = (text: string): Promise<Row> =>
    until(`a delivery of ${text} to succeed`, async () =>
      (await place.service().rows([text], 'Deliveries')).find(({ item }) => item.status === 'succeeded'),
    );
  const { id: endpoint } = await api.register(receiver, ['conversation.created']);
  await api.createConversation();
  const { table, item } = await succeeded(endpoint);
  const { terminalAt, ...open } = item;
  const id = DeliveryId.parse(item.sk);
  const dueAt = new Date(Date.now() - 1000).toISOString();
  await place.service().rewrite({
    table,
    item: {
      ...open,
      status: 'retrying',
      parked: true,
      nextRetryAt: dueAt,
      dueIn: keys.dueOf('parked', id),
      dueKey: keys.dueKey(String(item.orgId), dueAt),
    },
  });
  await place.service().invoke('reconcile');
  expect((await succeeded(id)).item.attempts).toBe(2);
});
