import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { DeliveryId, EventId, parseCreationTime } from '../../../../functions/aws/ids.ts';
import { toStartOfHour } from '../../../../functions/delivery/ledger.ts';
import { FAILURES_TO_DISABLE } from '../../../../functions/receivers/endpoint.ts';
import { keys } from '../../../../functions/tenancy/keys.ts';
import type { ApiClient, Data } from '../../../support/api.ts';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { path, RARELY_MS } from '../receivers.ts';
import { storeFailures } from '../stored-failures.ts';

const NOTHING = { owed: 0, pending: 0, succeeded: 0, exhausted: 0, skipped: 0, duplicates: 0 };

const place = aPlace('withoutWaits');
const organization = anOrganization(place);
const { subscribe, ended } = organization;

async function readWith(api: ApiClient, at: string): Promise<Data> {
  const { status, body } = await api.get(at);
  expect(status).toBe(200);
  return body.data ?? expect.fail(`${at} was to answer with data`);
}
const read = (at: string) => readWith(organization.api, at);
const readStats = (id: string) => read(`${path(id)}/stats`);

const test = (id: string, times: number) =>
  Promise.all(Array.from({ length: times }, () => organization.api.post(`${path(id)}/test`)));

/** Waits until so many deliveries are counted and all have ended. */
const waitUntilCounted = (id: string, owed: number, api = organization.api): Promise<Data> =>
  until(
    `${owed} deliveries of ${id} in the stats`,
    async () => {
      const stats = await readWith(api, `${path(id)}/stats`);
      const { totals } = Object(stats);
      return totals.owed === owed && totals.pending === 0 && stats;
    },
    undefined,
    RARELY_MS,
  );

/** Counts follow after a batching window of 10 seconds. */
describe.concurrent('statistics of an endpoint', { timeout: 180_000 }, () => {
  it('count succeeded, exhausted and skipped deliveries, beside the failures left until it is disabled', async () => {
    let healthy = true;
    const { api, subscribe, ended } = await organization.another();
    const read = async (at: string) => readWith(api, at);
    const test = (times: number) =>
      Promise.all(Array.from({ length: times }, () => api.post(`${path(id)}/test`)));
    const { id } = await subscribe(() => ({ status: healthy ? 200 : 500 }));
    await test(3);
    await ended(id, 3);
    expect(await read(path(id))).toMatchObject({ status: 'active', failing: null });

    healthy = false;
    await storeFailures(organization.place.service(), id, FAILURES_TO_DISABLE - 3);
    await test(2);
    await ended(id, 5);
    const failing = { since: expect.stringMatching(/Z$/), failuresUntilDisabled: 1 };
    expect(await read(path(id))).toMatchObject({ status: 'active', failing, disabledAt: null });
    expect(await api.all('/api/v1/webhooks')).toContainEqual(expect.objectContaining({ id, failing }));

    await test(1);
    const [last] = await ended(id, 6);
    expect(await read(path(id))).toMatchObject({
      status: 'auto_disabled',
      failing: null,
      disabledAt: last?.terminalAt,
      disabledReason: 'consecutive_failures',
    });
    for (const _ of [1, 2]) await api.post('/api/v1/tickets', {});
    await ended(id, 8);

    const stats = await waitUntilCounted(id, 8, api);
    const totals = { owed: 8, pending: 0, succeeded: 3, exhausted: 3, skipped: 2, duplicates: 0 };
    const latency = { p50Ms: expect.any(Number), p95Ms: expect.any(Number) };
    expect(stats).toMatchObject({ webhookId: id, totals, latency, oldestPending: null });
    const hours: Record<string, number | string>[] = Object(stats).hours;
    for (const [name, total] of Object.entries(totals))
      expect(hours.reduce((sum, hour) => sum + Number(hour[name]), 0)).toBe(total);

    const overview = await read('/api/v1/deliveries/stats');
    expect(overview.endpoints).toContainEqual(
      expect.objectContaining({ webhookId: id, status: 'auto_disabled', failing: null, totals, latency }),
    );
    expect(Object(overview.totals).owed).toBeGreaterThanOrEqual(8);
  });

  it('agree with lists filtered by status, event type and time', async () => {
    let healthy = true;
    const { id } = await subscribe(() => ({ status: healthy ? 200 : 500 }));
    await test(id, 2);
    const good = (await ended(id, 2)).map((delivery) => delivery.id);
    const between = new Date().toISOString();
    healthy = false;
    await test(id, 1);
    await ended(id, 3);
    const listed = async (query: Record<string, string>) =>
      (await organization.api.all(`${path(id)}/deliveries`, query)).map((delivery) => delivery.id);
    expect((await listed({ status: 'succeeded' })).sort()).toEqual(good.toSorted());
    expect(await listed({ status: 'exhausted,skipped', eventType: 'webhook.test' })).toHaveLength(1);
    expect(await listed({ eventType: 'ticket.created' })).toEqual([]);
    expect((await listed({ to: between })).sort()).toEqual(good.toSorted());
    expect(await listed({ from: between, status: 'succeeded' })).toEqual([]);
  });

  it('include open deliveries in the hour of their event', async () => {
    const answer = Promise.withResolvers<void>();
    const { id } = await subscribe(async () => {
      await answer.promise;
      return { status: 200 };
    });
    await test(id, 1);
    const stats = await until(
      'the delivery to be counted',
      async () => {
        const stats = await readStats(id);
        return Object(stats.totals).owed === 1 && stats;
      },
      undefined,
      RARELY_MS,
    );
    const [hour] = Object(stats).hours;
    expect(stats).toMatchObject({ totals: { ...NOTHING, owed: 1, pending: 1 }, oldestPending: hour.hour });
    const { eventId } = (await organization.deliveries(id))[0] ?? {};
    expect(hour.hour).toBe(toStartOfHour(parseCreationTime(EventId.parse(eventId))));

    answer.resolve();
    expect(await waitUntilCounted(id, 1)).toMatchObject({ totals: { succeeded: 1 }, oldestPending: null });
  });

  it('show since when an open delivery has waited', async () => {
    const never = Promise.withResolvers<void>();
    const { id } = await subscribe(async () => {
      await never.promise;
      return { status: 200 };
    });
    await test(id, 1);
    const own = async () => {
      const { endpoints } = await read('/api/v1/deliveries/stats');
      return Object(endpoints).find(({ webhookId }: Data) => webhookId === id);
    };
    const counted = (owed: number) =>
      until(
        `${owed} deliveries of ${id} in the stats`,
        async () => {
          const stats = await own();
          return stats.totals.owed === owed && stats;
        },
        undefined,
        RARELY_MS,
      );
    expect(await counted(1)).toMatchObject({ totals: { pending: 1 }, failing: null });

    const since = await fiveMinutesOlder(`${(await organization.deliveries(id))[0]?.id}`);
    expect(await counted(2)).toMatchObject({
      totals: { pending: 2 },
      failing: null,
      waitingSince: since,
    });
    never.resolve();
  });
});

/**
 * Stores a copy of an open delivery that was created five minutes earlier.
 * @returns its time of creation
 */
async function fiveMinutesOlder(open: string): Promise<string> {
  const rows = await place.service().rows([open], 'Deliveries');
  const row = rows.find(({ item }) => item.id === open && 'attempts' in item) ?? expect.fail('it is stored');
  const { webhookId, generation, dueIn: _, dueKey: __, ...delivery } = Object(row.item);
  const at = new Date(parseCreationTime(EventId.parse(delivery.eventId)).getTime() - 300_000);
  const id = DeliveryId.parse(`dlv_${at.getTime().toString(16).padStart(12, '0')}${open.slice(16)}`);
  const createdAt = at.toISOString();
  const item = {
    ...delivery,
    ...keys.delivery(webhookId, generation, id),
    webhookId,
    generation,
    id,
    createdAt,
  };
  await place.service().rewrite({ ...row, item });
  return createdAt;
}
