import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { ClaimedDelivery } from '../../../functions/delivery/delivery.ts';
import type { Settlement } from '../../../functions/delivery/settle.ts';
import { anEndpoint, NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { claimed, exhausted, LEASE_END, succeeded, TRACE } from './attempts.ts';
import { newStores, type Stores } from './stores.ts';

const engine = dynamoDb();
const make = newStores(engine);

/** Ends that change their endpoint, and its failures before each. */
const EFFECTS: readonly [effect: 'reset' | 'count' | 'disable', failures: number, as: Settlement][] = [
  ['reset', 5, succeeded],
  ['count', 2, exhausted],
  ['disable', 9, exhausted],
];

/** A sandbox's endpoint, and a claimed delivery to it with its last attempt. */
async function setUp(stores: Stores, consecutiveFailures: number) {
  const { tenant, reset } = await stores.sandbox();
  const endpoint = anEndpoint({ orgId: tenant.orgId, consecutiveFailures });
  await stores.endpoints.put(endpoint);
  const claim = await claimed(stores, { ...tenant, webhookId: endpoint.id, attempts: 7 });
  return { stores, tenant, reset, endpoint, claim };
}

describe('the end of a delivery in a sandbox', () => {
  it.each(EFFECTS)('has no effect "%s" after a reset, and makes no notice', async (_effect, failures, as) => {
    const { stores, endpoint, claim, reset } = await setUp(await make(), failures);
    await reset();

    expect(await stores.deliveries.settle(claim, as, TRACE)).toBe('refused');

    expect(await stores.endpoints.find(endpoint.orgId, endpoint.id)).toEqual(endpoint);
    expect(await stores.deliveries.find(claim)).toEqual(claim);
    expect(await stores.notices()).toEqual([]);
  });

  it.each([
    ['count', 2],
    ['disable', 9],
  ] as const)('has no effect "%s" after a reset when its worker was lost', async (_effect, failures) => {
    const { stores, endpoint, claim, reset } = await setUp(await make(), failures);
    await reset();

    expect(await stores.deliveries.exhaust(claim, LEASE_END, TRACE)).toBe('refused');
    expect(await stores.endpoints.find(endpoint.orgId, endpoint.id)).toEqual(endpoint);
    expect(await stores.notices()).toEqual([]);
  });

  it('needs no check when it does not change its endpoint', async () => {
    const { stores, claim, reset } = await setUp(await make(), 0);
    await reset();

    expect(await stores.deliveries.settle(claim, succeeded, TRACE)).toBe('done');
  });

  it('records the success of a redelivery in its own generation only', async () => {
    const { stores, tenant, endpoint, reset } = await setUp(await make(), 0);
    const redelivery = () => ({ ...tenant, webhookId: endpoint.id, id: newId('dlv', NOW) });
    const [first, late] = [await claimed(stores, redelivery()), await claimed(stores, redelivery())];
    const settle = (claim: ClaimedDelivery) => stores.deliveries.settle(claim, succeeded, TRACE);
    expect(await settle(first)).toBe('done');
    await reset();
    expect(await settle(late)).toBe('refused');
  });
});
