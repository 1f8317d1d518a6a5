import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { ClaimedDelivery, Settlement } from '../../../functions/delivery/delivery.ts';
import { LOST_OUTCOME } from '../../../functions/receivers/attempt-error.ts';
import type { Endpoint, EndpointOutcome } from '../../../functions/receivers/endpoint.ts';
import { LIVE_GENERATION } from '../../../functions/tenancy/tenant.ts';
import { anEndpoint, NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { claimed, ENDED, exhausted, LEASE_END, succeeded } from './attempts.ts';
import { writesOf } from './faults.ts';
import { dynamoDbStores, type Stores, storeKinds } from './stores.ts';

const engine = dynamoDb();

/** Outcomes that change their endpoint, and an endpoint for each. */
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

const buildOutcome = (
  endpoint: Endpoint,
  effect: EndpointOutcome['effect'],
  at = ENDED,
): EndpointOutcome => ({
  endpoint,
  effect,
  at,
});

describe.each(storeKinds(engine))('the end of a delivery in a sandbox (%s)', (_, make) => {
  it.each(EFFECTS)(
    'has the effect "%s" on its endpoint in the current generation',
    async (effect, failures, as) => {
      const { stores, endpoint, claim } = await setUp(await make(), failures);

      expect(await stores.deliveries.settle(claim, as, buildOutcome(endpoint, effect))).toBe('done');

      expect((await stores.endpoints.find(endpoint.orgId, endpoint.id))?.consecutiveFailures).toBe(
        effect === 'reset' ? 0 : failures + 1,
      );
      expect(await stores.deliveries.find(claim)).toMatchObject({ status: as.kind });
      expect(await stores.notices()).toHaveLength(effect === 'disable' ? 1 : 0);
    },
  );

  it.each(EFFECTS)('has no effect "%s" after a reset, and makes no notice', async (effect, failures, as) => {
    const { stores, endpoint, claim, reset } = await setUp(await make(), failures);
    await reset();

    expect(await stores.deliveries.settle(claim, as, buildOutcome(endpoint, effect))).toBe('refused');

    expect(await stores.endpoints.find(endpoint.orgId, endpoint.id)).toEqual(endpoint);
    expect(await stores.deliveries.find(claim)).toEqual(claim);
    expect(await stores.notices()).toEqual([]);
  });

  it.each([
    ['count', 2],
    ['disable', 9],
  ] as const)('has no effect "%s" after a reset when its worker was lost', async (effect, failures) => {
    const { stores, endpoint, claim, reset } = await setUp(await make(), failures);
    await reset();

    const result = await stores.deliveries.exhaust(
      claim,
      LOST_OUTCOME,
      8,
      buildOutcome(endpoint, effect, LEASE_END),
    );

    expect(result).toBe('refused');
    expect(await stores.endpoints.find(endpoint.orgId, endpoint.id)).toEqual(endpoint);
    expect(await stores.notices()).toEqual([]);
  });

  it('stays refused when it is retried', async () => {
    const { stores, endpoint, claim, reset } = await setUp(await make(), 2);
    await reset();
    const settle = () => stores.deliveries.settle(claim, exhausted, buildOutcome(endpoint, 'count'));

    expect([await settle(), await settle()]).toEqual(['refused', 'refused']);
  });

  it('needs no check when it does not change its endpoint', async () => {
    const { stores, endpoint, claim, reset } = await setUp(await make(), 0);
    await reset();

    expect(await stores.deliveries.settle(claim, succeeded, buildOutcome(endpoint, 'none'))).toBe('done');
  });

  it('records the success of a redelivery in its own generation only', async () => {
    const { stores, tenant, endpoint, reset } = await setUp(await make(), 0);
    const redelivery = () => ({ ...tenant, webhookId: endpoint.id, id: newId('dlv', NOW) });
    const [claim, late] = [await claimed(stores, redelivery()), await claimed(stores, redelivery())];
    const settle = (claimed: ClaimedDelivery) =>
      stores.deliveries.settle(claimed, succeeded, buildOutcome(endpoint, 'none'));
    expect(await settle(claim)).toBe('done');
    await reset();
    expect(await settle(late)).toBe('refused');
  });

  it('counts in the next generation', async () => {
    const { stores, tenant, endpoint, reset } = await setUp(await make(), 2);
    await reset();
    const next = await claimed(stores, { ...tenant, generation: 2, webhookId: endpoint.id, attempts: 7 });

    expect(await stores.deliveries.settle(next, exhausted, buildOutcome(endpoint, 'count'))).toBe('done');

    expect((await stores.endpoints.find(endpoint.orgId, endpoint.id))?.consecutiveFailures).toBe(3);
  });

  it('is not affected by a reset of another sandbox', async () => {
    const stores = await make();
    const { endpoint, claim } = await setUp(stores, 2);
    const other = await setUp(stores, 2);
    await other.reset();

    expect(await stores.deliveries.settle(claim, exhausted, buildOutcome(endpoint, 'count'))).toBe('done');
  });

  it("has the simulated receiver's request and reason", async () => {
    const { deliveries } = await make();
    const claim = await claimed({ deliveries });
    const attempt = {
      ...succeeded.attempt,
      request: { method: 'POST', url: 'https://example.com/', headers: { a: 'b' }, body: '{}' },
    } as const;
    const settlement = { ...succeeded, attempt, terminalReason: 'sandbox_simulated' } as const;

    await deliveries.settle(claim, settlement, buildOutcome(anEndpoint(), 'none'));

    expect(await deliveries.find(claim)).toMatchObject({
      status: 'succeeded',
      terminalReason: 'sandbox_simulated',
      attemptLog: [attempt],
    });
  });
});

describe('the transaction that ends a delivery', () => {
  /**
   * Settles a delivery.
   * @returns the writes of its transaction
   */
  async function writesOfEnd(
    consecutiveFailures: number,
    effect: 'reset' | 'count' | 'disable',
    live: boolean,
  ) {
    const client = engine.client();
    const stores = dynamoDbStores(await engine.tables(client));
    const made = await setUp(stores, consecutiveFailures);
    const claim: ClaimedDelivery = live
      ? await claimed(stores, {
          orgId: made.endpoint.orgId,
          generation: LIVE_GENERATION,
          webhookId: made.endpoint.id,
          attempts: 7,
        })
      : made.claim;
    const writes = writesOf(client);
    const as = effect === 'reset' ? succeeded : exhausted;
    expect(await stores.deliveries.settle(claim, as, buildOutcome(made.endpoint, effect))).toBe('done');
    return writes().map((write) => Object.keys(write).join());
  }

  it.each(EFFECTS)('does not check the generation of a live delivery: "%s"', async (effect, failures) => {
    const writes = await writesOfEnd(failures, effect, true);

    expect(writes).toEqual(['Update', 'Update', ...(effect === 'disable' ? ['Put', 'Put'] : [])]);
  });

  it.each(EFFECTS)('checks the generation in a sandbox: "%s"', async (effect, failures) => {
    const writes = await writesOfEnd(failures, effect, false);

    expect(writes).toEqual([
      'Update',
      'Update',
      ...(effect === 'disable' ? ['Put', 'Put'] : []),
      'ConditionCheck',
    ]);
  });
});
