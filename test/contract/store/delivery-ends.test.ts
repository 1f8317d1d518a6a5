import { describe, expect, it } from 'vitest';
import { type Delivery, LOST_OUTCOME, SkipReason } from '../../../functions/delivery/delivery.ts';
import { aDelivery, anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { LEASE_END, TRACE } from './attempts.ts';
import { newStores } from './stores.ts';

const make = newStores();

const terms = { now: NOW, leaseSeconds: 25, maxAttempts: 8 };

describe('the end of a delivery without an attempt', () => {
  async function setUp(changes: Partial<Delivery>) {
    const stores = await make();
    const delivery = aDelivery(changes);
    await stores.deliveries.add(delivery);
    return { ...stores, delivery };
  }

  describe('as skipped', () => {
    it.each(SkipReason.options)('has the reason %s', async (reason) => {
      const { deliveries, delivery } = await setUp({});

      expect(await deliveries.skip(delivery, reason, NOW)).toBe('done');

      expect(await deliveries.find(delivery)).toEqual({
        ...delivery,
        status: 'skipped',
        terminalAt: NOW.toISOString(),
        terminalReason: reason,
      });
    });

    it('does not wait until a retry is due', async () => {
      const nextRetryAt = later(NOW, seconds(60)).toISOString();
      const { deliveries, delivery } = await setUp({ status: 'retrying', attempts: 2, nextRetryAt });

      expect(await deliveries.skip(delivery, 'endpoint_disabled', NOW)).toBe('done');

      const skipped = await deliveries.find(delivery);
      expect(skipped).toMatchObject({ status: 'skipped', attempts: 2 });
      expect(skipped).not.toHaveProperty('nextRetryAt');
    });

    it("waits until a worker's lease has expired", async () => {
      const { deliveries, delivery } = await setUp({});
      await deliveries.claim(delivery, terms);
      const claimed = await deliveries.find(delivery);

      expect(await deliveries.skip(delivery, 'endpoint_deleted', later(LEASE_END, -1))).toBe('refused');
      expect(await deliveries.find(delivery)).toEqual(claimed);
      expect(await deliveries.skip(delivery, 'endpoint_deleted', LEASE_END)).toBe('done');
      expect(await deliveries.find(delivery)).not.toHaveProperty('lease');
    });

    it('creates no delivery', async () => {
      const { deliveries } = await make();
      const delivery = aDelivery();

      expect(await deliveries.skip(delivery, 'endpoint_deleted', NOW)).toBe('refused');
      expect(await deliveries.find(delivery)).toBeUndefined();
    });
  });

  describe('as exhausted', () => {
    it('has the given error and no lease', async () => {
      const { deliveries, delivery } = await setUp({ attempts: 7 });
      await deliveries.claim(delivery, terms);

      expect(await deliveries.exhaust(delivery, LEASE_END, TRACE)).toBe('done');

      expect(await deliveries.find(delivery)).toEqual({
        ...delivery,
        attempts: 8,
        status: 'exhausted',
        terminalAt: LEASE_END.toISOString(),
        terminalReason: 'max_attempts',
        lastError: LOST_OUTCOME.error,
        lastErrorCode: 'lost',
      });
    });

    it("waits until the last worker's lease has expired", async () => {
      const { deliveries, delivery } = await setUp({ attempts: 7 });
      await deliveries.claim(delivery, terms);
      const claimed = await deliveries.find(delivery);

      expect(await deliveries.exhaust(delivery, later(LEASE_END, -1), TRACE)).toBe('refused');
      expect(await deliveries.find(delivery)).toEqual(claimed);
    });

    it.each(['pending', 'retrying'] as const)(
      'is refused for a %s delivery with an attempt left',
      async (status) => {
        const { deliveries, delivery } = await setUp({ status, attempts: 7 });

        expect(await deliveries.exhaust(delivery, NOW, TRACE)).toBe('refused');
        expect(await deliveries.find(delivery)).toEqual(delivery);
      },
    );

    it('counts at the endpoint once when several workers end it', async () => {
      const endpoint = anEndpoint({ consecutiveFailures: 2 });
      const { deliveries, endpoints, delivery } = await setUp({
        orgId: endpoint.orgId,
        webhookId: endpoint.id,
        attempts: 8,
      });
      await endpoints.put(endpoint);

      const results = await Promise.all(
        Array.from({ length: 10 }, () => deliveries.exhaust(delivery, NOW, TRACE)),
      );

      expect(results.filter((result) => result === 'done')).toHaveLength(1);
      expect(results.filter((result) => result === 'refused')).toHaveLength(9);
      expect(await endpoints.find(endpoint.orgId, endpoint.id)).toMatchObject({ consecutiveFailures: 3 });
    });
  });
});
