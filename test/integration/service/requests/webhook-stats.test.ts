import { PATIENCE } from 'aws-local/test/patience.ts';
import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { FAILURES_TO_DISABLE } from '../../../../functions/receivers/endpoint.ts';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { path } from '../receivers.ts';
import { storeFailures } from '../stored-failures.ts';

const organization = anOrganization(aPlace());

/** Counts follow after a batching window of 10 seconds. */
describe('statistics of an endpoint', { timeout: 180_000 * PATIENCE }, () => {
  it('count succeeded, exhausted and skipped deliveries, beside the failures left until it is disabled', async () => {
    let healthy = true;
    const { api, subscribe, ended } = await organization.another();
    const read = async (at: string) => {
      const { status, body } = await api.get(at);
      expect(status).toBe(200);
      return body.data ?? expect.fail(`${at} was to answer with data`);
    };
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

    const stats = await until('all deliveries to be counted, and to have ended', async () => {
      const counted = await read(`${path(id)}/stats`);
      const { owed, pending } = Object(counted.totals);
      return owed === 8 && pending === 0 && counted;
    });
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
});
