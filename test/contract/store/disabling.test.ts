import { describe, expect, it } from 'vitest';
import type { ClaimedDelivery } from '../../../functions/delivery/delivery.ts';
import { LOST_OUTCOME } from '../../../functions/receivers/attempt-error.ts';
import type { Endpoint, EndpointOutcome } from '../../../functions/receivers/endpoint.ts';
import type { AuditEntry } from '../../../functions/tenancy/audit.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { claimAgain, claimed, ENDED, exhausted, LEASE_END, succeeded } from './attempts.ts';
import { conflictOnOverlap } from './faults.ts';
import { dynamoDbStores, type Stores, storeKinds } from './stores.ts';

const engine = dynamoDb();

/** Claims of so many deliveries to one endpoint, each for its last attempt. */
const claims = (stores: Stores, { orgId, id }: Endpoint, count: number): Promise<ClaimedDelivery[]> =>
  Promise.all(Array.from({ length: count }, () => claimed(stores, { orgId, webhookId: id, attempts: 7 })));

const TRACE = '1-5759e988-bd862e3fe1be46a994272793';

const outcomeAt = (endpoint: Endpoint, effect: EndpointOutcome['effect'], at = ENDED): EndpointOutcome => ({
  endpoint,
  effect,
  at,
  traceId: TRACE,
});

const findNotice = ({ orgId, id }: Endpoint, { at = ENDED, lastError = exhausted.attempt.error } = {}) => ({
  kind: 'notice',
  id: `${id}#disabled#${at.toISOString()}`,
  type: 'webhook.disabled',
  orgId,
  generation: 0,
  createdAt: at.toISOString(),
  data: { webhookId: id, disabledAt: at.toISOString(), lastError },
  traceId: TRACE,
});

const findWarning = ({ orgId, id }: Endpoint, { at = ENDED, lastError = exhausted.attempt.error } = {}) => ({
  kind: 'notice',
  id: `${id}#failing#${at.toISOString()}`,
  type: 'webhook.failing',
  orgId,
  generation: 0,
  createdAt: at.toISOString(),
  data: { webhookId: id, lastError },
  traceId: TRACE,
});

const findEntry = ({ orgId, id }: Endpoint, at = ENDED): AuditEntry => ({
  id: expect.stringMatching(/^aud_[0-9a-f]{32}$/),
  orgId,
  action: 'webhook.disabled',
  targetId: id,
  actorType: 'service',
  changes: [{ field: 'status', before: 'active', after: 'auto_disabled' }],
  createdAt: at.toISOString(),
});

/**
 * Settles all claims at the same time, with an effect on the endpoint as it was before.
 * @returns how many did
 */
async function settleAtOnce(
  stores: Stores,
  endpoint: Endpoint,
  ends: ClaimedDelivery[],
  effect: 'count' | 'warn' | 'disable',
) {
  const results = await Promise.all(
    ends.map((claim) => stores.deliveries.settle(claim, exhausted, outcomeAt(endpoint, effect))),
  );
  return {
    done: results.filter((result) => result === 'done').length,
    changed: results.filter((result) => result === 'endpoint-changed').length,
  };
}

async function statuses(stores: Stores, ends: ClaimedDelivery[]): Promise<(string | undefined)[]> {
  const stored = await Promise.all(ends.map((claim) => stores.deliveries.find(claim)));
  return stored.map((delivery) => delivery?.status).toSorted();
}

describe.each(storeKinds(engine))('the disabling of an endpoint (%s)', (_, make) => {
  async function setUp(changes: Partial<Endpoint> = {}) {
    const stores = await make();
    const endpoint = anEndpoint(changes);
    await stores.endpoints.put(endpoint);
    const find = () => stores.endpoints.find(endpoint.orgId, endpoint.id);
    return { stores, endpoint, find };
  }

  it('is done by one of ten settlements at once, with one notice and one entry of the audit log', async () => {
    const { stores, endpoint, find } = await setUp({
      consecutiveFailures: 9,
      failingSince: NOW.toISOString(),
    });
    const ends = await claims(stores, endpoint, 10);

    expect(await settleAtOnce(stores, endpoint, ends, 'disable')).toEqual({ done: 1, changed: 9 });

    expect(await find()).toEqual({
      ...endpoint,
      status: 'auto_disabled',
      consecutiveFailures: 10,
      disabledAt: ENDED.toISOString(),
      disabledReason: 'consecutive_failures',
    });
    expect(await stores.notices()).toEqual([findNotice(endpoint)]);
    expect(await stores.auditEntries(endpoint.orgId)).toEqual([findEntry(endpoint)]);
    expect(await statuses(stores, ends)).toEqual([
      'exhausted',
      ...Array.from({ length: 9 }, () => 'pending'),
    ]);
  });

  it.each([
    ['has fewer failures', { consecutiveFailures: 8 }],
    ['is disabled already', { consecutiveFailures: 10, status: 'auto_disabled' }],
  ] as const)('makes no notice when the endpoint %s', async (_why, changes) => {
    const { stores, endpoint, find } = await setUp(changes);
    const ends = await claims(stores, endpoint, 1);

    expect(await settleAtOnce(stores, endpoint, ends, 'disable')).toEqual({ done: 0, changed: 1 });

    expect(await find()).toEqual(endpoint);
    expect(await stores.notices()).toEqual([]);
    expect(await stores.auditEntries(endpoint.orgId)).toEqual([]);
  });

  it('makes no notice when the endpoint is gone', async () => {
    const { stores, endpoint } = await setUp({ consecutiveFailures: 9 });
    const ends = await claims(stores, endpoint, 1);
    await stores.endpoints.remove(endpoint.orgId, endpoint.id);

    expect(await settleAtOnce(stores, endpoint, ends, 'disable')).toEqual({ done: 0, changed: 1 });

    expect(await stores.notices()).toEqual([]);
  });

  it('makes no notice when the attempt has lost its lease', async () => {
    const { stores, endpoint, find } = await setUp({ consecutiveFailures: 9 });
    const late = await claimed(stores, { orgId: endpoint.orgId, webhookId: endpoint.id, attempts: 6 });
    await claimAgain(stores, late, LEASE_END);

    const result = await stores.deliveries.settle(late, exhausted, outcomeAt(endpoint, 'disable'));

    expect(result).toBe('refused');
    expect(await find()).toEqual(endpoint);
    expect(await stores.notices()).toEqual([]);
    expect(await stores.auditEntries(endpoint.orgId)).toEqual([]);
  });

  it('makes its notice also when the last attempt was lost with its worker', async () => {
    const { stores, endpoint, find } = await setUp({ consecutiveFailures: 9 });
    const [lost] = await claims(stores, endpoint, 1);
    if (lost === undefined) throw new Error('a delivery was to be claimed');
    const outcome = outcomeAt(endpoint, 'disable', LEASE_END);

    expect(await stores.deliveries.exhaust(lost, LOST_OUTCOME, 8, outcome)).toBe('done');

    expect(await find()).toMatchObject({
      status: 'auto_disabled',
      failingSince: LEASE_END.toISOString(),
      disabledAt: LEASE_END.toISOString(),
    });
    expect(await stores.notices()).toEqual([
      findNotice(endpoint, { at: LEASE_END, lastError: LOST_OUTCOME.error }),
    ]);
    expect(await stores.auditEntries(endpoint.orgId)).toEqual([findEntry(endpoint, LEASE_END)]);
  });

  it('has the time of the first failure since the last success', async () => {
    const { stores, endpoint, find } = await setUp();
    const [first, second, third, fourth] = await claims(stores, endpoint, 4);
    if (!first || !second || !third || !fourth) throw new Error('four deliveries were to be claimed');
    const at = (count: number) => later(ENDED, seconds(count));
    const settle = async (claim: ClaimedDelivery, effect: EndpointOutcome['effect'], count: number) =>
      stores.deliveries.settle(
        claim,
        effect === 'reset' ? succeeded : exhausted,
        outcomeAt((await find()) ?? endpoint, effect, at(count)),
      );

    await settle(first, 'count', 1);
    expect(await find()).toMatchObject({ consecutiveFailures: 1, failingSince: at(1).toISOString() });
    await settle(second, 'count', 2);
    expect(await find()).toMatchObject({ consecutiveFailures: 2, failingSince: at(1).toISOString() });
    await settle(third, 'reset', 3);
    expect(await find()).toEqual(endpoint);
    await settle(fourth, 'count', 4);
    expect(await find()).toMatchObject({ consecutiveFailures: 1, failingSince: at(4).toISOString() });
  });
});

describe.each(storeKinds(engine))('the warning of a failing endpoint (%s)', (_, make) => {
  async function setUp(consecutiveFailures: number) {
    const stores = await make();
    const endpoint = anEndpoint({ consecutiveFailures });
    await stores.endpoints.put(endpoint);
    const counted = async () =>
      (await stores.endpoints.find(endpoint.orgId, endpoint.id))?.consecutiveFailures;
    return { stores, endpoint, counted };
  }

  it('commits with the fifth failure, for one of ten settlements at once', async () => {
    const { stores, endpoint, counted } = await setUp(4);
    const ends = await claims(stores, endpoint, 10);

    expect(await settleAtOnce(stores, endpoint, ends, 'warn')).toEqual({ done: 1, changed: 9 });

    expect(await counted()).toBe(5);
    expect(await stores.warnings()).toEqual([findWarning(endpoint)]);
    expect(await stores.notices()).toEqual([]);
  });

  it.each([3, 5, 9])('is refused after %i failures', async (failures) => {
    const { stores, endpoint, counted } = await setUp(failures);
    const ends = await claims(stores, endpoint, 1);

    expect(await settleAtOnce(stores, endpoint, ends, 'warn')).toEqual({ done: 0, changed: 1 });

    expect(await counted()).toBe(failures);
    expect(await stores.warnings()).toEqual([]);
  });

  it('cannot be missed: a worker that has seen fewer failures does not count the fifth', async () => {
    const { stores, endpoint, counted } = await setUp(3);
    const ends = await claims(stores, endpoint, 4);

    expect(await settleAtOnce(stores, endpoint, ends, 'count')).toEqual({ done: 1, changed: 3 });

    expect(await counted()).toBe(4);
  });

  it('has the error of an attempt that was lost with its worker', async () => {
    const { stores, endpoint } = await setUp(4);
    const [lost] = await claims(stores, endpoint, 1);
    if (lost === undefined) throw new Error('a delivery was to be claimed');

    await stores.deliveries.exhaust(lost, LOST_OUTCOME, 8, outcomeAt(endpoint, 'warn', LEASE_END));

    expect(await stores.warnings()).toEqual([
      findWarning(endpoint, { at: LEASE_END, lastError: LOST_OUTCOME.error }),
    ]);
  });
});

describe('the disabling of an endpoint during transaction conflicts', () => {
  it('is done at most once, with a notice exactly if it was', async () => {
    const client = engine.client();
    const stores = dynamoDbStores(await engine.tables(client));
    const conflicts = conflictOnOverlap(client);
    const endpoint = anEndpoint({ consecutiveFailures: 9 });
    await stores.endpoints.put(endpoint);
    const ends = await claims(stores, endpoint, 10);

    const { done } = await settleAtOnce(stores, endpoint, ends, 'disable');

    expect(conflicts.count()).toBeGreaterThan(0);
    expect(done).toBe(1);
    expect(await stores.notices()).toEqual([findNotice(endpoint)]);
  });
});
