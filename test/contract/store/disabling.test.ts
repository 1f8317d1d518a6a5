import { TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { put, type Table } from '../../../functions/aws/table.ts';
import {
  type AttemptError,
  type ClaimedDelivery,
  LOST_OUTCOME,
} from '../../../functions/delivery/delivery.ts';
import type { Settlement } from '../../../functions/delivery/settle.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import type { AuditEntry } from '../../../functions/tenancy/audit.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { claimed, ENDED, exhausted, LEASE_END, succeeded, TRACE } from './attempts.ts';
import { conflictOnOverlap } from './faults.ts';
import { dynamoDbStores, newStores, type Stores } from './stores.ts';

const engine = dynamoDb();
const make = newStores(engine);

/** Claims of so many deliveries to one endpoint, each for its last attempt. */
const claims = (stores: Stores, { orgId, id }: Endpoint, count: number): Promise<ClaimedDelivery[]> =>
  Promise.all(Array.from({ length: count }, () => claimed(stores, { orgId, webhookId: id, attempts: 7 })));

interface Told {
  at?: Date;
  error?: AttemptError;
}
const lastOf = ({ error, errorCode }: AttemptError) => ({ lastError: error, lastErrorCode: errorCode });
const REFUSED = exhausted.attempt as AttemptError;

const findNotice = ({ orgId, id }: Endpoint, { at = ENDED, error = REFUSED }: Told = {}) => ({
  kind: 'notice',
  id: `${id}#disabled#${at.toISOString()}`,
  type: 'webhook.disabled',
  orgId,
  generation: 0,
  createdAt: at.toISOString(),
  data: { webhookId: id, disabledAt: at.toISOString(), ...lastOf(error) },
  traceId: TRACE,
});

const findWarning = (endpoint: Endpoint, { at = ENDED, error = REFUSED }: Told = {}) => ({
  ...findNotice(endpoint, { at }),
  id: `${endpoint.id}#failing#${at.toISOString()}`,
  type: 'webhook.failing',
  data: { webhookId: endpoint.id, ...lastOf(error) },
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

/** Fails all claims at the same time, each of which ends its delivery. */
async function failAtOnce(stores: Stores, ends: ClaimedDelivery[]): Promise<void> {
  const results = await Promise.all(ends.map((claim) => stores.deliveries.settle(claim, exhausted, TRACE)));
  expect(results).toEqual(ends.map(() => 'done'));
  for (const claim of ends)
    expect(await stores.deliveries.find(claim)).toMatchObject({ status: 'exhausted', attempts: 8 });
}

describe('the disabling of an endpoint', () => {
  async function setUp(changes: Partial<Endpoint> = {}, given?: Stores) {
    const stores = given ?? (await make());
    const endpoint = anEndpoint(changes);
    await stores.endpoints.put(endpoint);
    const find = () => stores.endpoints.find(endpoint.orgId, endpoint.id);
    return { stores, endpoint, find };
  }

  it('is done by one of ten settlements at once that conflict, with one notice and one entry of the audit log', async () => {
    const client = engine.client();
    const conflicts = conflictOnOverlap(client);
    const changes = { consecutiveFailures: 9, failingSince: NOW.toISOString() };
    const { stores, endpoint, find } = await setUp(changes, dynamoDbStores(await engine.tables(client)));
    const ends = await claims(stores, endpoint, 10);

    await failAtOnce(stores, ends);

    expect(conflicts.count()).toBeGreaterThan(0);
    expect(await find()).toEqual({
      ...endpoint,
      status: 'auto_disabled',
      consecutiveFailures: 10,
      disabledAt: ENDED.toISOString(),
      disabledReason: 'consecutive_failures',
    });
    expect(await stores.notices()).toEqual([findNotice(endpoint)]);
    expect(await stores.auditEntries(endpoint.orgId)).toEqual([findEntry(endpoint)]);
    expect(stores.log.entries.map(({ code }) => code)).toEqual(['ENDPOINT_DISABLED']);
  });

  it('makes its notice also when the last attempt was lost with its worker', async () => {
    const { stores, endpoint, find } = await setUp({ consecutiveFailures: 9 });
    const [lost] = await claims(stores, endpoint, 1);
    if (lost === undefined) throw new Error('a delivery was to be claimed');

    expect(await stores.deliveries.exhaust(lost, LEASE_END, TRACE)).toBe('done');

    expect(await find()).toMatchObject({
      status: 'auto_disabled',
      failingSince: LEASE_END.toISOString(),
      disabledAt: LEASE_END.toISOString(),
    });
    expect(await stores.notices()).toEqual([findNotice(endpoint, { at: LEASE_END, error: LOST_OUTCOME })]);
    expect(await stores.auditEntries(endpoint.orgId)).toEqual([findEntry(endpoint, LEASE_END)]);
  });

  it('has the time of the first failure since the last success', async () => {
    const { stores, endpoint, find } = await setUp();
    const [first, second, third, fourth] = await claims(stores, endpoint, 4);
    if (!first || !second || !third || !fourth) throw new Error('four deliveries were to be claimed');
    const at = (count: number) => later(ENDED, seconds(count));
    const settle = async (claim: ClaimedDelivery, as: Settlement, count: number) =>
      stores.deliveries.settle(claim, { ...as, at: at(count) }, TRACE);

    await settle(first, exhausted, 1);
    expect(await find()).toMatchObject({ consecutiveFailures: 1, failingSince: at(1).toISOString() });
    await settle(second, exhausted, 2);
    expect(await find()).toMatchObject({ consecutiveFailures: 2, failingSince: at(1).toISOString() });
    await settle(third, succeeded, 3);
    expect(await find()).toEqual(endpoint);
    await settle(fourth, exhausted, 4);
    expect(await find()).toMatchObject({ consecutiveFailures: 1, failingSince: at(4).toISOString() });
  });
});

describe('the warning of a failing endpoint', () => {
  async function setUp(consecutiveFailures: number) {
    const stores = await make();
    const endpoint = anEndpoint({ consecutiveFailures });
    await stores.endpoints.put(endpoint);
    const counted = async () =>
      (await stores.endpoints.find(endpoint.orgId, endpoint.id))?.consecutiveFailures;
    return { stores, endpoint, counted };
  }

  it.each([3, 4])(
    'commits with the fifth failure, once, when five come at once after %i',
    async (failures) => {
      const { stores, endpoint, counted } = await setUp(failures);

      await failAtOnce(stores, await claims(stores, endpoint, 5));

      expect(await counted()).toBe(failures + 5);
      expect(await stores.warnings()).toEqual([findWarning(endpoint)]);
      expect(await stores.notices()).toEqual([]);
    },
  );

  it('has the error of an attempt that was lost with its worker', async () => {
    const { stores, endpoint } = await setUp(4);
    const [lost] = await claims(stores, endpoint, 1);
    if (lost === undefined) throw new Error('a delivery was to be claimed');

    await stores.deliveries.exhaust(lost, LEASE_END, TRACE);

    expect(await stores.warnings()).toEqual([findWarning(endpoint, { at: LEASE_END, error: LOST_OUTCOME })]);
  });
});

const DISABLED = { status: 'auto_disabled', consecutiveFailures: 10 } as const;
const counted = (consecutiveFailures: number) => ({ status: 'active', consecutiveFailures }) as const;

describe('an endpoint that changes before an end is written', () => {
  type State = Partial<Endpoint> | undefined;
  it.each<
    ['succeeded' | 'exhausted', failures: number, then: State, end: State, sent?: 'warning' | 'notice']
  >([
    ['succeeded', 3, DISABLED, DISABLED],
    ['exhausted', 3, DISABLED, DISABLED],
    ['exhausted', 3, counted(4), counted(5), 'warning'],
    ['exhausted', 3, counted(9), DISABLED, 'notice'],
    ['exhausted', 4, counted(3), counted(4)],
    ['exhausted', 4, counted(5), counted(6)],
    ['exhausted', 9, counted(8), counted(9)],
    ['exhausted', 9, DISABLED, DISABLED],
    ['exhausted', 9, undefined, undefined],
  ])('is read again: %s after %i failures, then %j', async (as, failures, then, end, sent) => {
    const { tables, endpoints } = await make();
    const endpoint = anEndpoint({ consecutiveFailures: failures });
    const { orgId, id } = endpoint;
    await endpoints.put(endpoint);
    const change = () =>
      then === undefined
        ? endpoints.remove(orgId, id)
        : put(tables.service, { ...keys.endpoint(orgId, id), ...endpoint, ...then });
    const stores = dynamoDbStores({ ...tables, service: changedBeforeCommit(tables.service, change) });
    const [claim] = await claims(stores, endpoint, 1);

    expect(claim && (await stores.deliveries.settle(claim, { succeeded, exhausted }[as], TRACE))).toBe(
      'done',
    );

    const stored = await endpoints.find(orgId, id);
    expect(stored && { status: stored.status, consecutiveFailures: stored.consecutiveFailures }).toEqual(end);
    expect(await stores.warnings()).toHaveLength(Number(sent === 'warning'));
    expect(await stores.notices()).toHaveLength(Number(sent === 'notice'));
    expect(await stores.auditEntries(orgId)).toHaveLength(Number(sent === 'notice'));
  });
});

/** Calls `change` before the first transaction. */
function changedBeforeCommit({ client, name }: Table, change: () => Promise<unknown>): Table {
  let isChanged = false;
  const send = async (command: object) => {
    if (command instanceof TransactWriteItemsCommand && !isChanged) {
      isChanged = true;
      await change();
    }
    return client.send(command as TransactWriteItemsCommand);
  };
  return { client: Object.create(client, { send: { value: send } }), name };
}

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
