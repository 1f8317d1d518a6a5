import { setTimeout as sleep } from 'node:timers/promises';
import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { type ReceivedDelivery, startReceiver } from '../../../packages/cli/src/receiver/receiver.ts';
import type { ApiClient } from '../../support/api.ts';
import { aSandbox, aTenant, type Tenant } from '../../support/tenant.ts';
import { aPlace } from './place.ts';

/*
 * The rows of a reset sandbox are purged while messages of its deliveries are still in queues. A batch with
 * such messages must not fail the live deliveries in it. `RESET_RETRY_BASE_SECONDS=65` waits as long as a
 * deployment does, and leaves the purge to its schedule of one minute.
 */
const { RESET_RETRY_BASE_SECONDS } = process.env;
const BASE_SECONDS = Number(RESET_RETRY_BASE_SECONDS ?? 16);
const isScheduled = RESET_RETRY_BASE_SECONDS !== undefined;

const DELIVERIES = 40;
const LINGER_SECONDS = 1;
const MOST_LATE_SECONDS = 10;
const TIMEOUT_MS = (3 * BASE_SECONDS + 120) * 1000;

interface Failed {
  id: string;
  nextRetryAt: string;
}

/**
 * Makes an endpoint fail on so many events.
 * @returns its deliveries, each with the time of its retry
 */
async function fail(api: ApiClient, id: string): Promise<Failed[]> {
  await Promise.all(Array.from({ length: DELIVERIES }, () => api.createConversation()));
  const failed = new Map<string, string>();
  await until(`${DELIVERIES} failed attempts at ${id}`, async () => {
    for (const { id: delivery, status, nextRetryAt } of await api.all(`/api/v1/webhooks/${id}/deliveries`))
      if (status === 'retrying' && !failed.has(String(delivery)))
        failed.set(String(delivery), String(nextRetryAt));
    return failed.size === DELIVERIES;
  });
  return [...failed].map(([delivery, nextRetryAt]) => ({ id: delivery, nextRetryAt }));
}

/** Makes one delivery to an endpoint and deletes the endpoint. */
async function warmUp({ api, receiver }: Tenant): Promise<void> {
  const { id } = await api.register(receiver, ['conversation.created']);
  await api.createConversation();
  const path = `/api/v1/webhooks/${id}`;
  await until('an attempt', async () => {
    const [delivery] = await api.all(`${path}/deliveries`);
    return delivery !== undefined && Number(delivery.attempts) > 0;
  });
  await api.call({ method: 'DELETE', path });
}

describe('a reset beside live retries', () => {
  const place = aPlace({
    settings: {
      retryBaseSeconds: BASE_SECONDS,
      retryCapSeconds: BASE_SECONDS,
      lingerSeconds: LINGER_SECONDS,
    },
  });

  it('delays no live retry and attempts nothing of the sandbox', { timeout: TIMEOUT_MS }, async () => {
    const service = place.service();
    const live = place.keep(await aTenant(service));
    const sandbox = place.keep(await aSandbox(service, live));
    const received: ReceivedDelivery[] = [];
    const receiver = await startReceiver({
      ...service.tls,
      respond: ({ headers }) => ({ status: headers['webhook-attempt'] === '1' ? 503 : 200 }),
      onDelivery: (delivery) => received.push(delivery),
    });
    place.keep({ close: receiver.stop });
    const events = ['conversation.created'];
    // Starts the functions' processes, because the retries below are due in less time than a start takes.
    await Promise.all([live, sandbox].map(warmUp));
    const [ours, theirs] = await Promise.all([
      live.api.register(receiver.url, events),
      sandbox.api.register(`${sandbox.receiver}?simulate=503`, events),
    ]);
    const [retries, old] = await Promise.all([fail(live.api, ours.id), fail(sandbox.api, theirs.id)]);

    expect((await live.admin.post('/api/settings/sandbox/reset')).status).toBe(200);
    // An attempt that started before the reset may end within the linger time.
    await sleep(LINGER_SECONDS * 1000);
    const attemptsBefore = findAttempts(place.log(), old);
    await until(
      'the purge',
      async () => {
        if (!isScheduled) await service.invoke('purge');
        return Object((await live.admin.get('/api/settings/sandbox')).body.data).purge === null;
      },
      TIMEOUT_MS,
    );
    const purgedAt = Date.now();
    const second = (id: string) =>
      received.find(
        ({ headers }) => headers['webhook-delivery-id'] === id && headers['webhook-attempt'] === '2',
      );
    const lastDueAt = Math.max(...retries.map(({ nextRetryAt }) => Date.parse(nextRetryAt)));
    const isTooLate = () => Date.now() > lastDueAt + (MOST_LATE_SECONDS + 1) * 1000;
    await until(
      'all retries, or the time after which they are too late',
      () => isTooLate() || retries.every(({ id }) => second(id) !== undefined),
      TIMEOUT_MS,
    );

    const lateness = retries.map(({ id, nextRetryAt }) => {
      const receivedAt = second(id)?.receivedAt.getTime() ?? Number.POSITIVE_INFINITY;
      return (receivedAt - Date.parse(nextRetryAt)) / 1000;
    });
    const afterPurge = retries.filter(({ nextRetryAt }) => Date.parse(nextRetryAt) > purgedAt).length;
    process.stdout.write(
      `base ${BASE_SECONDS} s: ${afterPurge} of ${DELIVERIES} retries due after the purge, the latest ${Math.max(...lateness).toFixed(2)} s late\n`,
    );
    expect(afterPurge).toBeGreaterThan(0);
    expect(lateness.filter((seconds) => seconds > MOST_LATE_SECONDS)).toEqual([]);
    // The messages of the old deliveries are received at the same time, and deleted.
    for (const queue of ['Fresh', 'Retry'])
      await until(`${queue} to be empty`, () => service.queued(`Delivery/${queue}`) === 0, TIMEOUT_MS);
    expect(attemptsBefore).toBeGreaterThanOrEqual(DELIVERIES);
    expect(findAttempts(place.log(), old)).toBe(attemptsBefore);
    expect(await service.rows(old.map(({ id }) => id))).toEqual([]);
  });
});

/** Logged attempts at these deliveries; all of them fail. */
const findAttempts = (log: readonly { text: string }[], deliveries: readonly Failed[]): number =>
  log.filter(({ text }) => text.includes('ATTEMPT_') && deliveries.some(({ id }) => text.includes(id)))
    .length;
