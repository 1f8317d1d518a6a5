import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Table } from '../../../functions/aws/table.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import type { ClaimedDelivery, Delivery } from '../../../functions/delivery/delivery.ts';
import { buildDeliveryKey } from '../../../functions/delivery/rows.ts';
import type { Settlement } from '../../../functions/delivery/settle.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { casesOf } from '../../support/cases.ts';
import { anAttempt, exhausted, LEASE_SECONDS, refusal, retryingIn, succeeded, TRACE } from './attempts.ts';
import { dynamoDbStores, newStores } from './stores.ts';

const MAX_ATTEMPTS = 8;
const LEASE = { token: 'a-token', until: NOW.getTime() + seconds(25) };
const turn = { at: NOW.getTime() + seconds(600), era: 1, attempts: 0, missed: 0 };

function storesOf(tables: TestTables, deliveries: Table = tables.deliveries) {
  const stores = dynamoDbStores({ ...tables, deliveries });
  return { ...stores.due, ...stores.deliveries, commit: committer(tables.service.client) };
}
type Stores = ReturnType<typeof storesOf>;

const entryOf = (delivery: Delivery) => ({
  message: delivery,
  state: 'watched' as const,
  dueAt: NOW.toISOString(),
});
const placeOf = ({ id, orgId }: Delivery) => ({
  dueIn: keys.dueOf('watched', id),
  dueKey: keys.dueKey(orgId, NOW.toISOString()),
});
/** As the worker has it that attempts the delivery. */
const claimOf = (delivery: Delivery): ClaimedDelivery => ({ ...delivery, lease: LEASE });

/** Every change of a delivery that the stores can make, by its method. */
const CHANGES: Record<string, (stores: Stores, delivery: Delivery) => Promise<unknown>> = {
  claim: ({ claim }, of) => claim(of, { now: NOW, leaseSeconds: 25, maxAttempts: MAX_ATTEMPTS }),
  keepTurn: ({ keepTurn }, of) =>
    keepTurn(of, { turn, until: later(NOW, seconds(540)), isParked: true, now: NOW }),
  'settle (succeeded)': ({ settle }, of) => settle(claimOf(of), succeeded, TRACE),
  'settle (retrying)': ({ settle }, of) => settle(claimOf(of), retryingIn('hidden'), TRACE),
  'settle (exhausted)': ({ settle }, of) => settle(claimOf(of), exhausted, TRACE),
  exhaust: ({ exhaust }, of) => exhaust(of, NOW, TRACE),
  skip: ({ skip }, of) => skip(of, 'endpoint_deleted', NOW),
  watch: ({ watch }, of) => watch(of, later(NOW, seconds(900))),
  postpone: ({ postpone }, of) => postpone(entryOf(of), later(NOW, seconds(60))),
  'postpone (deferred)': ({ postpone }, of) => postpone(entryOf(of), later(NOW, seconds(60)), 'deferred'),
  expire: ({ expire }, of) => expire(entryOf(of), NOW),
  buildRetry: ({ buildRetry, commit }, of) => commit([buildRetry(of, NOW)]),
  add: ({ add }, of) => add(of),
  adding: ({ adding, commit }, of) => commit([adding(of)]),
};
const READS = ['find', 'findAll', 'states', 'listWaiting', 'list', 'commit'];

const engine = dynamoDb();

it('the table has every method that changes a delivery', async () => {
  const methods = Object.keys(storesOf(await engine.tables())).filter((name) => !READS.includes(name));
  const covered = new Set(Object.keys(CHANGES).map((name) => name.split(' ')[0]));
  expect(methods.filter((name) => !covered.has(name))).toEqual([]);
});

describe('delivery that has ended', () => {
  it.each(Object.entries(CHANGES))(
    'is not changed by %s, with all that another condition may ask for',
    async (_name, change) => {
      const tables = await engine.tables();
      const stores = storesOf(tables);
      for (const status of ['succeeded', 'exhausted', 'skipped'] as const) {
        const delivery = aDelivery({ status });
        await stores.add(delivery);
        const get = new GetCommand({ TableName: tables.deliveries.name, Key: buildDeliveryKey(delivery) });
        // All that another condition may ask for: a lease, attempts, a place in the due index.
        const row = { ...(await tables.deliveries.client.send(get)).Item, attempts: MAX_ATTEMPTS };
        for (const further of [{}, { lease: LEASE }, { lease: { ...LEASE, until: 0 } }, { attempts: 1 }]) {
          const before = { ...row, ...further, ...placeOf(delivery) };
          await tables.deliveries.client.send(
            new PutCommand({ TableName: tables.deliveries.name, Item: before }),
          );
          await change(stores, delivery);
          expect((await tables.deliveries.client.send(get)).Item).toEqual(before);
        }
      }
    },
  );
});

/** Sends each update twice, as the SDK does when the first response is lost. */
function repeating({ client, name }: Table): Table {
  const send = async (command: object) => {
    const request = command as UpdateCommand;
    if (command instanceof UpdateCommand) await client.send(request);
    return client.send(request);
  };
  return { client: Object.create(client, { send: { value: send } }) as DynamoDBDocumentClient, name };
}

const isOpen = { status: 'pending', attempts: 1 } as const;
const isLeased = { ...isOpen, lease: LEASE };
/** Changes with a result, and the open delivery that each is for. */
const REPEATED: [name: string, row: Partial<Delivery>, result: unknown][] = [
  ['claim', isOpen, expect.objectContaining({ kind: 'claimed' })],
  ['keepTurn', isOpen, 'done'],
  ['settle (succeeded)', isLeased, 'done'],
  ['settle (retrying)', isLeased, 'done'],
  ['settle (exhausted)', isLeased, 'done'],
  ['exhaust', { ...isOpen, attempts: MAX_ATTEMPTS }, 'done'],
  ['skip', isOpen, 'done'],
  ['expire', isOpen, 'done'],
];

describe('change that the SDK repeats after a lost response', () => {
  it.each(REPEATED)('has its first result and takes effect once: %s', async (name, row, result) => {
    const tables = await engine.tables();
    const delivery = aDelivery(row);
    await tables.deliveries.client.send(
      new PutCommand({
        TableName: tables.deliveries.name,
        Item: { ...buildDeliveryKey(delivery), ...delivery, ...placeOf(delivery) },
      }),
    );
    expect(await CHANGES[name]?.(storesOf(tables, repeating(tables.deliveries)), delivery)).toEqual(result);
    const stored = await storesOf(tables).find(delivery);
    expect(stored?.attempts).toBe(delivery.attempts + Number(name === 'claim'));
    expect(stored?.attemptLog).toHaveLength(Number(name.startsWith('settle')));
  });
});

const make = newStores();

const LEASE_MS = seconds(LEASE_SECONDS);
const RETRY_MS = seconds(30);

/** A sequence of steps: time passes, one worker claims, or one of the earlier workers settles. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant('elapse' as const),
    ms: fc.constantFrom(1, 1000, RETRY_MS, LEASE_MS - 1, LEASE_MS),
  }),
  fc.record({ kind: fc.constant('claim' as const) }),
  fc.record({
    kind: fc.constant('settle' as const),
    worker: fc.nat(),
    as: fc.constantFrom('retrying' as const, 'retrying' as const, 'succeeded' as const, 'exhausted' as const),
    hold: fc.constantFrom('hidden' as const, 'delayed' as const, 'parked' as const),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function buildSettlement(
  claim: ClaimedDelivery,
  { as, hold }: Extract<Step, { kind: 'settle' }>,
  at: Date,
): Settlement {
  if (as === 'succeeded') return { kind: as, attempt: anAttempt({ number: claim.attempts }), at };
  const attempt = { ...refusal, number: claim.attempts };
  if (as === 'exhausted') return { kind: as, attempt, at, terminalReason: 'max_attempts' };
  return { kind: as, attempt, at, nextRetryAt: later(at, RETRY_MS), wait: { hold, lane: 'retry' } };
}

describe('the lease of a delivery', () => {
  it('admits one worker at a time and eight at most, and refuses settlements after its end', async () => {
    const { deliveries } = await make();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
        const delivery = aDelivery();
        await deliveries.add(delivery);
        let now = NOW;
        let holder: ClaimedDelivery | undefined;
        let dueAt = NOW;
        let ended = false;
        const claims: ClaimedDelivery[] = [];
        const settledClaims = new Set<ClaimedDelivery>();

        const isHeld = () => holder !== undefined && now.getTime() < holder.lease.until;
        for (const taken of steps) {
          if (taken.kind === 'elapse') {
            now = later(now, taken.ms);
          } else if (taken.kind === 'claim') {
            const free = !ended && !isHeld() && now >= dueAt && claims.length < MAX_ATTEMPTS;
            const claim = await deliveries.claim(delivery, {
              now,
              leaseSeconds: LEASE_SECONDS,
              maxAttempts: MAX_ATTEMPTS,
            });
            expect(claim.kind === 'claimed').toBe(free);
            if (claim.kind !== 'claimed') continue;
            expect(claim.delivery.attempts).toBe(claims.length + 1);
            claims.push(claim.delivery);
            holder = claim.delivery;
          } else if (claims.length > 0) {
            const claim = claims[taken.worker % claims.length];
            if (claim === undefined) continue;
            const settlement = buildSettlement(claim, taken, now);
            const result = await deliveries.settle(claim, settlement, TRACE);
            const may = claim === holder && isHeld();
            // A repeated settlement has its first result: the SDK repeats a request whose response was lost.
            expect(result).toBe(may || settledClaims.has(claim) ? 'done' : 'refused');
            if (!may) continue;
            settledClaims.add(claim);
            holder = undefined;
            ended = settlement.kind !== 'retrying';
            if (settlement.kind === 'retrying') dueAt = settlement.nextRetryAt;
          }
        }

        const stored = await deliveries.find(delivery);
        expect(stored?.attempts).toBe(claims.length);
        expect(stored?.terminalAt !== undefined).toBe(ended);
        const settled = stored?.attemptLog.map(({ number }) => number) ?? [];
        expect(new Set(settled).size).toBe(settled.length);
      }),
      { numRuns: casesOf(12, 40) },
    );
  });
});
