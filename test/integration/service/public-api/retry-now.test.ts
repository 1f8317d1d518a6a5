import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { startReceiver } from '../../../../packages/cli/src/receiver/receiver.ts';
import { aTenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';

/* A retry that a user requests, where the wait between attempts is 30 seconds. */
const { service, keep } = aPlace('defaults');

describe('a requested retry', () => {
  it('attempts a retrying delivery at once, as one of its attempts', async () => {
    const { api } = keep(await aTenant(service()));
    let isUp = false;
    let release = Promise.resolve();
    const { url, stop } = await startReceiver({
      ...service().tls,
      respond: () => release.then(() => ({ status: isUp ? 200 : 503 })),
    });
    keep({ close: stop });
    const { id } = await api.register(url, ['ticket.created']);
    const { body: test } = await api.post(`/api/v1/webhooks/${id}/test`);
    const path = `/api/v1/webhooks/${id}/deliveries/${test.data?.deliveryId}`;
    // `attempts` includes an attempt in progress, which the log of attempts does not.
    const reaches = (status: string, attempts: number) =>
      until(`${path} to be ${status} after ${attempts} attempts`, async () => {
        const { data } = (await api.get(path)).body;
        return data?.status === status && Object(data.attemptLog).length === attempts && data;
      });
    const before = await reaches('retrying', 1);

    // The second attempt does not end before the second request.
    const { promise, resolve } = Promise.withResolvers<void>();
    release = promise;
    const [first, second] = [await api.post(`${path}/retry`), await api.post(`${path}/retry`)];
    resolve();

    expect(first.status).toBe(202);
    expect(Date.parse(String(Object(first.body.data).nextRetryAt))).toBeLessThan(
      Date.parse(String(before.nextRetryAt)),
    );
    expect([second.status, second.body.error?.type]).toEqual([409, 'CONFLICT']);
    await reaches('retrying', 2);

    isUp = true;
    expect((await api.post(`${path}/retry`)).status).toBe(202);
    const ended = await reaches('succeeded', 3);
    expect(ended.attemptLog).toMatchObject([{ status: 503 }, { status: 503 }, { status: 200 }]);
    expect((await api.post(`${path}/retry`)).body.error).toMatchObject({
      type: 'CONFLICT',
      message: 'The delivery is succeeded. To resend its event, use redeliver.',
    });
  });
});
