import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { MessageRole } from '../../../functions/conversations/conversations.ts';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { deliveryContexts } from '../../../functions/delivery/dispatch.ts';
import { DURATION_CLASSES } from '../../../functions/delivery/ledger.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import type { Settlement } from '../../../functions/delivery/settle.ts';
import { MAX_ATTEMPTS } from '../../../functions/delivery/timing.ts';
import type { EventFilter } from '../../../functions/events/events.ts';
import { Measured } from '../../../lib/cost/measured.ts';
import { aDelivery, aLedgerEntry, anEndpoint, anEvent, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { type Consumed, metered } from '../../support/consumed.ts';
import { anAttempt, claimAgain, exhausted, refusal, succeeded, TRACE } from './attempts.ts';
import { dynamoDbStores, type Stores } from './stores.ts';

/*
 * The cost of a month multiplies counts that are measured now and then on the local run. This test counts the
 * units of a delivery over the real stores, so that a change of its writes is noticed.
 */
const MEASURED = Measured.parse(
  JSON.parse(readFileSync(new URL('../../../lib/cost/measured.json', import.meta.url), 'utf8')),
);
const { 'fan-out': fanOut, dispatch } = MEASURED.delivery.steady;

const engine = dynamoDb();
let tables: TestTables;
let stores: Stores;
let consumed: () => Consumed;

beforeEach(async () => {
  const client = engine.client();
  tables = await engine.tables(client);
  stores = dynamoDbStores(tables);
  consumed = metered(client);
});

/** An endpoint, an event, and the delivery that the fan-out makes of them. */
async function aWay(filter?: EventFilter) {
  const endpoint = anEndpoint(filter && { filter });
  await stores.endpoints.put(endpoint);
  const event = anEvent({ tenant: { orgId: endpoint.orgId, generation: 0 } });
  await committer(tables.outbox.client)([outboxStore(tables.outbox).append(event)]);
  const names = { webhookId: endpoint.id, eventId: event.id, filterValues: event.filterValues };
  const delivery = aDelivery({ orgId: endpoint.orgId, ...names });
  consumed();
  return { endpoint, delivery };
}

/** The largest ones. */
const FILTERS: [string, EventFilter | undefined][] = [
  ['without a filter', undefined],
  ['with a filter', { channelIds: Array(20).fill(newId('chn', NOW)), roles: MessageRole.options }],
];

describe('lib/cost/measured.json', () => {
  it.each(FILTERS)('has the units of a fan-out of one event to one endpoint %s', async (_, filter) => {
    const { endpoint, delivery } = await aWay(filter);

    await stores.endpoints.all(endpoint.orgId);
    await stores.deliveries.add(delivery);

    const { reads, writes } = consumed();
    expect(writes).toBeCloseTo(fanOut?.writeUnits ?? 0, 1);
    expect(reads).toBeCloseTo(fanOut?.readUnits ?? 0, 0);
  });

  it.each(FILTERS)('has the units of a delivery that succeeds at once %s', async (_, filter) => {
    const { delivery } = await aWay(filter);
    await stores.deliveries.add(delivery);
    consumed();

    const readContexts = deliveryContexts(tables.service, tables.outbox, () => undefined);
    const contextOf = await readContexts([toDeliveryMessage(delivery)]);
    contextOf(toDeliveryMessage(delivery));
    const claim = await claimAgain(stores, delivery, NOW);
    await stores.deliveries.settle(claim, succeeded, TRACE);

    const { reads, writes } = consumed();
    expect(writes).toBeCloseTo(dispatch?.writeUnits ?? 0, 1);
    expect(reads).toBeCloseTo(dispatch?.readUnits ?? 0, 0);
  });

  it.each([
    ['fails once and then succeeds', 'retried', ['retrying', 'succeeded']],
    ['fails eight times', 'exhausted', [...Array(MAX_ATTEMPTS - 1).fill('retrying'), 'exhausted']],
  ] as const)('has the units of a delivery that %s', async (_, kind, outcomes) => {
    const { delivery } = await aWay();
    await stores.deliveries.add(delivery);
    consumed();

    let now = NOW;
    for (const outcome of outcomes) {
      const claim = await claimAgain(stores, delivery, now);
      await stores.deliveries.settle(claim, settlement(outcome, claim.attempts, now), TRACE);
      now = later(now, seconds(60));
    }

    expect(consumed().writes).toBeCloseTo(MEASURED[kind].dispatch?.writeUnits ?? 0, 0);
  });
});

describe('an addition to the ledger', () => {
  it('costs one unit with attempts of all durations and the positions of sixteen shards', async () => {
    const durations = Object.fromEntries(DURATION_CLASSES.map((number) => [number, 100_000]));
    const entry = aLedgerEntry({ owed: 1_000_000, durations });
    // An endpoint's deliveries are in eight partitions, whose stream shards end after some hours.
    const parts = Array.from({ length: 16 }, (_, shard) => ({
      shardId: `shardId-${shard}`,
      first: '1'.repeat(24),
      last: '2'.repeat(24),
    }));
    for (const part of parts) await stores.ledger.add(part, entry);
    consumed();

    await stores.ledger.add({ shardId: 'shardId-0', first: '3'.repeat(24), last: '4'.repeat(24) }, entry);

    expect(consumed()).toMatchObject({ writes: 1 });
  });
});

/** The answers of receivers when it was measured: the stored part makes the item larger. */
const { response: _, ...silent } = refusal;

/** The end of an attempt, a second after it started. */
function settlement(kind: Settlement['kind'], number: number, began: Date): Settlement {
  const at = later(began, seconds(1));
  const attempt = { startedAt: began.toISOString(), number };
  if (kind === 'succeeded') return { ...succeeded, attempt: anAttempt(attempt), at };
  if (kind === 'exhausted') return { ...exhausted, attempt: { ...silent, ...attempt }, at };
  return {
    kind,
    attempt: { ...silent, ...attempt },
    at,
    nextRetryAt: later(at, seconds(30)),
    wait: { hold: 'hidden', lane: 'retry' },
  };
}
