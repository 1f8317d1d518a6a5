import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { newStores } from './stores.ts';

const make = newStores();
const terms = { now: NOW, leaseSeconds: 25, maxAttempts: 8 };
const at = (now: Date) => ({ ...terms, now });

describe('a claim of a delivery', () => {
  /** Stores with only this delivery. */
  async function setUp(changes: Partial<Delivery>) {
    const { deliveries } = await make();
    const delivery = aDelivery(changes);
    await deliveries.add(delivery);
    return { deliveries, delivery };
  }

  it('counts the attempt and holds a lease for its term', async () => {
    const { deliveries, delivery } = await setUp({});

    const claim = await deliveries.claim(delivery, terms);

    const lease = { token: expect.stringMatching(/.+/), until: NOW.getTime() + seconds(25) };
    expect(claim).toEqual({ kind: 'claimed', delivery: { ...delivery, attempts: 1, lease } });
    expect(await deliveries.find(delivery)).toEqual({ ...delivery, attempts: 1, lease });
  });

  it('takes a retrying delivery once it is due', async () => {
    const due = later(NOW, seconds(30));
    const retrying = { status: 'retrying', attempts: 1, nextRetryAt: due.toISOString() } as const;
    const { deliveries, delivery } = await setUp(retrying);

    expect(await deliveries.claim(delivery, at(later(due, -1)))).toEqual({
      kind: 'not-due',
      at: due,
      parked: false,
    });
    expect(await deliveries.claim(delivery, at(due))).toMatchObject({
      kind: 'claimed',
      delivery: { attempts: 2 },
    });
  });

  it('takes a leased delivery once the lease has expired, with another token', async () => {
    const { deliveries, delivery } = await setUp({});
    const first = await deliveries.claim(delivery, terms);
    const until = later(NOW, seconds(25));

    expect(await deliveries.claim(delivery, at(later(until, -1)))).toEqual({ kind: 'leased', until });
    const second = await deliveries.claim(delivery, at(until));

    expect(second).toMatchObject({ kind: 'claimed', delivery: { attempts: 2 } });
    const tokens = [first, second].map((claim) => claim.kind === 'claimed' && claim.delivery.lease.token);
    expect(new Set(tokens).size).toBe(2);
  });

  it.each([
    ['succeeded', {}],
    ['exhausted', { terminalReason: 'max_attempts' }],
    ['skipped', { terminalReason: 'endpoint_disabled' }],
  ] as const)('is refused for a delivery that is %s', async (status, reason) => {
    const { deliveries, delivery } = await setUp({ status, terminalAt: NOW.toISOString(), ...reason });

    expect(await deliveries.claim(delivery, terms)).toEqual({ kind: 'terminal' });
    expect(await deliveries.find(delivery)).toEqual(delivery);
  });

  it('is refused for an unknown delivery, and creates none', async () => {
    const { deliveries } = await make();
    const delivery = aDelivery();

    expect(await deliveries.claim(delivery, terms)).toEqual({ kind: 'absent' });
    expect(await deliveries.find(delivery)).toBeUndefined();
  });

  it.each(['pending', 'retrying'] as const)(
    'is refused for a ninth attempt of a %s delivery',
    async (status) => {
      const { deliveries, delivery } = await setUp({ status, attempts: 8 });

      expect(await deliveries.claim(delivery, terms)).toEqual({ kind: 'spent' });
      expect(await deliveries.find(delivery)).toEqual(delivery);
    },
  );

  it('starts at most eight attempts when worker after worker is lost', async () => {
    const { deliveries, delivery } = await setUp({});

    const kinds: string[] = [];
    for (let worker = 0; worker < 10; worker += 1)
      kinds.push((await deliveries.claim(delivery, at(later(NOW, seconds(25 * worker))))).kind);

    expect(kinds).toEqual([...Array.from({ length: 8 }, () => 'claimed'), 'spent', 'spent']);
  });

  it('succeeds for exactly one of fifty at once', async () => {
    const { deliveries, delivery } = await setUp({});

    const claims = await Promise.all(Array.from({ length: 50 }, () => deliveries.claim(delivery, terms)));

    expect(claims.filter((claim) => claim.kind === 'claimed')).toHaveLength(1);
    expect(claims.filter((claim) => claim.kind === 'leased')).toHaveLength(49);
    expect(await deliveries.find(delivery)).toMatchObject({ attempts: 1 });
  });
});

describe('a delivery', () => {
  it('is added once, and keeps its state when it is added again', async () => {
    const { deliveries } = await make();
    const delivery = aDelivery();
    expect(await deliveries.add(delivery)).toBe('added');
    await deliveries.claim(delivery, terms);
    const claimed = await deliveries.find(delivery);

    expect(await deliveries.add(delivery)).toBe('exists');
    expect(await deliveries.add({ ...delivery, status: 'skipped' })).toBe('exists');

    expect(await deliveries.find(delivery)).toEqual(claimed);
  });
});
