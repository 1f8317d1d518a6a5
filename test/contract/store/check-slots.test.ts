import { describe, expect, it } from 'vitest';
import { type CheckSlot, checkSlots } from '../../../functions/knowledge/source-checks.ts';
import { aTenant, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';

const engine = dynamoDb();
const SHARE = 3;
const LEASE = 75;

const make = async () => checkSlots((await engine.tables()).knowledge, SHARE);

describe('slots of checks', () => {
  const terms = (now = NOW) => ({ now, leaseSeconds: LEASE });

  it('are given up to the share of a tenant to concurrent requests, and to each tenant', async () => {
    const slots = await make();
    const [tenant, other] = [aTenant(), aTenant()];
    const taken = await Promise.all(Array.from({ length: 10 }, () => slots.take(tenant, terms())));
    const given = taken.filter((slot) => slot !== undefined);
    // A request that conflicts at each slot is refused, and is repeated.
    expect(given.length).toBeLessThanOrEqual(SHARE);
    while (given.length < SHARE) given.push((await slots.take(tenant, terms())) as CheckSlot);
    expect(new Set(given.map(({ lease }) => lease.token)).size).toBe(SHARE);

    expect(await slots.take(tenant, terms())).toBeUndefined();
    expect(await slots.take(other, terms())).toMatchObject({ tenant: other });
    expect(await slots.take({ ...tenant, generation: 1 }, terms())).toBeDefined();
  });

  it('can be taken again after a release, which frees no slot of another check', async () => {
    const slots = await make();
    const tenant = aTenant();
    const held: CheckSlot[] = [];
    for (let count = 0; count < SHARE; count += 1)
      held.push((await slots.take(tenant, terms())) as CheckSlot);
    const [first] = held as [CheckSlot];

    await slots.release(first);
    expect(await slots.take(tenant, terms())).toBeDefined();
    await slots.release(first);
    expect(await slots.take(tenant, terms())).toBeUndefined();
  });

  it('of lost workers are free when their leases have ended', async () => {
    const slots = await make();
    const tenant = aTenant();
    for (let count = 0; count < SHARE; count += 1) await slots.take(tenant, terms());

    expect(await slots.take(tenant, terms(later(NOW, seconds(LEASE) - 1)))).toBeUndefined();
    const after = later(NOW, seconds(LEASE));
    for (let count = 0; count < SHARE; count += 1)
      expect(await slots.take(tenant, terms(after))).toBeDefined();
    expect(await slots.take(tenant, terms(after))).toBeUndefined();
  });
});
