import { until } from 'aws-local/test/until.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { DeliveryId, newId, ReceiverId } from '../../../../functions/aws/ids.ts';
import { getHourBefore } from '../../../../functions/delivery/ledger.ts';
import { keys } from '../../../../functions/tenancy/keys.ts';
import type { Row } from '../../../support/tables.ts';
import { aSandbox, aTenant, type Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { POLL_MS } from '../receivers.ts';
import { pageOf, paragraph, startPage } from './page.ts';

const HOUR_MS = 3_600_000;
/** The audit corrects an hour of the ledger after these hours. */
const LAST_AGE = 98;

/* Recovery from lost work: the tests write rows as a killed worker leaves them. */
const place = aPlace('withoutWaits');
let tenant: Tenant;
let sandbox: Tenant;

beforeAll(async () => {
  tenant = place.keep(await aTenant(place.service()));
  sandbox = place.keep(await aSandbox(place.service(), tenant));
});

/** Waits for the row of a table that contains the text and satisfies the predicate. */
const row = (what: string, table: string, text: string, is: (item: Row['item']) => boolean = () => true) =>
  until(
    what,
    async () => (await place.service().rows([text], table)).find((found) => is(found.item)),
    60_000,
    POLL_MS,
  );

/** The row of a delivery that succeeded. */
async function aDelivery(of: Tenant): Promise<Row> {
  const { id } = await of.api.register(of.receiver, ['conversation.created']);
  await of.api.createConversation();
  return row(
    'a delivery to succeed',
    'Deliveries',
    id,
    ({ webhookId, status }) => webhookId === id && status === 'succeeded',
  );
}

describe('a delivery', () => {
  it('that is due without a message is sent by the reconciler', async () => {
    const { table, item } = await aDelivery(tenant);
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
    const sent = await row('it to end', 'Deliveries', id, ({ status }) => status === 'succeeded');
    expect(sent.item.attempts).toBe(2);
  });
});

it('the audit corrects counts of the ledger that differ from the deliveries', async () => {
  const original = await aDelivery(sandbox);
  const webhookId = ReceiverId.parse(original.item.webhookId);
  const buildEntryKey = (hour: string) => keys.ledger(webhookId, Number(original.item.generation), hour);
  const entry = (hour: string) =>
    row(
      'an entry of the ledger',
      'Ledger',
      webhookId,
      ({ pk, sk }) => pk === buildEntryKey(hour).pk && sk === buildEntryKey(hour).sk,
    );
  // The hour may end before the audit reads it.
  const hours = [LAST_AGE, LAST_AGE - 1].map((age) => getHourBefore(new Date(), age));
  const ids = new Map<string, string>();
  for (const hour of hours)
    ids.set(hour, await anOpenDelivery(original, new Date(Date.parse(hour) + HOUR_MS / 2)));
  for (const hour of hours) {
    const counted = await entry(hour);
    expect(counted.item.owed).toBe(1);
    await place.service().rewrite({ ...counted, item: { ...counted.item, owed: 3 } });
  }
  const oldest = () => getHourBefore(new Date(), LAST_AGE);
  let checked: string;
  do {
    checked = oldest();
    await place.service().invoke('audit-ledger');
  } while (checked !== oldest());
  expect((await entry(checked)).item.owed).toBe(1);
  const id = DeliveryId.parse(ids.get(checked));
  expect((await row('the delivery', 'Deliveries', id)).item.dueIn).toBe(keys.dueOf('watched', id));
}, 120_000);

/**
 * Stores a copy of a delivery that has been open since the given time.
 * @returns its id
 */
async function anOpenDelivery({ table, item }: Row, since: Date): Promise<string> {
  const id = DeliveryId.parse(newId('dlv', since));
  const { terminalAt, terminalReason, ...open } = item;
  await place.service().rewrite({
    table,
    item: {
      ...open,
      ...keys.delivery(ReceiverId.parse(item.webhookId), Number(item.generation), id),
      id,
      status: 'pending',
      attempts: 0,
      attemptLog: [],
      createdAt: since.toISOString(),
    },
  });
  return id;
}

describe('a content source', () => {
  it('that is due is checked again', async () => {
    const page = await startPage(place.service().tls, pageOf(paragraph('first')));
    place.keep({ close: () => page.stop() });
    const { body } = await tenant.api.post('/api/v1/knowledge/sources', { kind: 'url', url: page.url });
    const source = String(body.data?.id);
    const { table, item } = await row(
      'the import',
      'Knowledge',
      source,
      ({ sk, lastCheckedAt }) => sk === source && lastCheckedAt !== undefined,
    );
    const before = page.requests.length;
    await place.service().rewrite({
      table,
      item: { ...item, dueAt: new Date(Date.now() - 1000).toISOString() },
    });
    await place.service().invoke('schedule-source-checks');
    await until('the page to be fetched', () => page.requests.length > before);
  });
});
