import { describe, expect, it } from 'vitest';
import { type Delivery, toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { createRedelivery } from '../../../functions/delivery/redelivery.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { FAILED, OK } from './dispatch-fixture.ts';
import { aService } from './service-fixture.ts';

type Service = ReturnType<typeof aService>;

/** Resends a delivery, as the API does. */
async function redeliver(
  { deliveries, fanOut, clock }: Service,
  ended: Delivery | undefined,
  endpoint: Endpoint | undefined,
): Promise<void> {
  if (ended === undefined || endpoint === undefined) throw new Error('a delivery and its endpoint expected');
  const again = createRedelivery(ended, endpoint, clock.now());
  if (again.kind === 'refused') throw new Error(again.why);
  await deliveries.add(again.delivery);
  await fanOut([{ kind: 'redelivery', deliveryMessage: toDeliveryMessage(again.delivery) }]);
}

describe('delivery engine, against known retry bugs of other services,', () => {
  it('resends a delivery that has succeeded before', async () => {
    let started = 0;
    const service = aService({
      attempt: async () => {
        started += 1;
        return OK;
      },
    });
    await service.publish();
    await service.pass(1);

    await redeliver(service, service.deliveries.every[0], service.subscribed[0]);
    await service.pass(1);

    expect(started).toBe(2);
    expect(service.deliveries.every).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
  });

  it('numbers the attempts of a resent delivery from one, and makes all eight', async () => {
    const numbers: number[] = [];
    const service = aService({
      attempt: async ({ attempts }) => {
        numbers.push(attempts);
        return FAILED;
      },
    });
    await service.publish();
    await service.pass(90);
    numbers.length = 0;

    await redeliver(service, service.deliveries.every[0], service.subscribed[0]);
    await service.pass(90);

    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('keeps an endpoint enabled after failed attempts and nine failed deliveries', async () => {
    const service = aService({ attempt: async () => FAILED });
    for (let count = 0; count < 9; count += 1) await service.publish();

    await service.pass(90);

    expect(service.deliveries.every.map(({ status }) => status)).toEqual(Array(9).fill('exhausted'));
    expect(await service.endpoints.all(service.tenant.orgId)).toMatchObject([
      { status: 'active', consecutiveFailures: 9 },
    ]);
    expect(service.deliveries.notices).toEqual([]);
  });

  it('creates one notice of a disabled endpoint, and no delivery of it', async () => {
    const service = aService({ attempt: async () => FAILED });
    for (let count = 0; count < 12; count += 1) await service.publish();

    await service.pass(90);

    expect(await service.endpoints.all(service.tenant.orgId)).toMatchObject([
      { status: 'auto_disabled', consecutiveFailures: 10, disabledReason: 'consecutive_failures' },
    ]);
    expect(service.deliveries.notices).toHaveLength(1);
    expect(service.deliveries.every).toHaveLength(12);
    expect(service.lanes.deliveryMessages).toEqual([]);
  });

  it('delivers to healthy endpoints while hundreds of retries of another wait', async () => {
    const delivered: string[] = [];
    const service = aService({
      endpoints: [{}, {}],
      attempt: async ({ webhookId }) => {
        if (webhookId === service.subscribed[0]?.id) return FAILED;
        delivered.push(webhookId);
        return OK;
      },
    });
    for (let count = 0; count < 300; count += 1) await service.publish();
    while ((await service.dispatchFrom('fresh')) > 0);

    expect(service.lanes.queues.fresh.deliveryMessages).toEqual([]);
    expect(service.lanes.queues.retry.deliveryMessages).toHaveLength(300);
    expect(delivered).toHaveLength(300);
    // Messages in the retry queue were sent with a delay, so they are not in flight.
    expect(service.lanes.queues.retry.inFlight).toBe(0);
  });
});
