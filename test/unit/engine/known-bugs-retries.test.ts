import { describe, expect, it } from 'vitest';
import { type Delivery, toDeliveryMessage } from '../../../functions/domain/delivery.ts';
import type { Endpoint } from '../../../functions/domain/endpoint.ts';
import { createRedelivery } from '../../../functions/domain/redelivery.ts';
import { FAILED, OK } from './a-dispatch.ts';
import { aService } from './a-service.ts';

type Service = ReturnType<typeof aService>;

/** Sends a delivery again, as the API does. */
async function redeliver(
  { deliveries, fanOut, clock }: Service,
  ended: Delivery | undefined,
  endpoint: Endpoint | undefined,
): Promise<void> {
  if (ended === undefined || endpoint === undefined) throw new Error('something was to be sent again');
  const again = createRedelivery(ended, endpoint, clock.now());
  if (again.kind === 'refused') throw new Error(again.why);
  await deliveries.add(again.delivery);
  await fanOut([{ kind: 'redelivery', reminder: toDeliveryMessage(again.delivery) }]);
}

describe('bugs of others in retrying and disabling', () => {
  it('a manual retry is blocked by the idempotency of the first success: here it goes out', async () => {
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

  it('nobody knows what the attempt number means after a manual retry: here it begins at one, with all eight to come', async () => {
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

  it('an endpoint is disabled on one error: here neither by failed attempts nor by nine failed deliveries', async () => {
    const service = aService({ attempt: async () => FAILED });
    for (let count = 0; count < 9; count += 1) await service.publish();

    await service.pass(90);

    expect(service.deliveries.every.map(({ status }) => status)).toEqual(Array(9).fill('exhausted'));
    expect(await service.endpoints.all(service.tenant.orgId)).toMatchObject([
      { status: 'active', consecutiveFailures: 9 },
    ]);
    expect(service.deliveries.notices).toEqual([]);
  });

  it('the alert about disabling goes to the disabled endpoint: here one notice is made, and no delivery of it', async () => {
    const service = aService({ attempt: async () => FAILED });
    for (let count = 0; count < 12; count += 1) await service.publish();

    await service.pass(90);

    expect(await service.endpoints.all(service.tenant.orgId)).toMatchObject([
      { status: 'auto_disabled', consecutiveFailures: 10, disabledReason: 'consecutive_failures' },
    ]);
    expect(service.deliveries.notices).toHaveLength(1);
    expect(service.deliveries.every).toHaveLength(12);
    expect(service.lanes.reminders).toEqual([]);
  });

  it('failing endpoints clog the queue: here those of others are delivered while hundreds of retries wait', async () => {
    const delivered: string[] = [];
    const service = aService({
      endpoints: [{}, {}],
      attempt: async (_claimed, endpoint) => {
        if (endpoint.id === service.subscribed[0]?.id) return FAILED;
        delivered.push(endpoint.id);
        return OK;
      },
    });
    for (let count = 0; count < 300; count += 1) await service.publish();
    while ((await service.dispatchFrom('fresh')) > 0);

    expect(service.lanes.queues.fresh.reminders).toEqual([]);
    expect(service.lanes.queues.retry.reminders).toHaveLength(300);
    expect(delivered).toHaveLength(300);
    // What waits in the retry lane was sent with a delay and is not in flight there.
    expect(service.lanes.queues.retry.inFlight).toBe(0);
  });
});
