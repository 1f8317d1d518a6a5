import type { ReceiverId } from '../../functions/aws/ids.ts';
import { type LedgerCounts, NO_COUNTS } from '../../functions/delivery/ledger.ts';
import { isFirstDelivery, isFromJob } from '../../functions/delivery/redelivery.ts';
import { buildTenantKey } from '../../functions/tenancy/keys.ts';
import type { Entry } from './entries.ts';
import { isOpen } from './moves.ts';
import type { PromiseName } from './promises.ts';
import { OF_SANDBOXES } from './reset-deletion.ts';
import type { World } from './world.ts';

const MS_PER_HOUR = 3_600_000;

type Fault = [promise: PromiseName, detail: string];

/** What is wrong with a world in which all work should have ended. */
export function* faultsAtRest(world: World): Generator<Fault> {
  const { organizations } = world;
  for (const delivery of [...world.tables.deliveries.values()])
    if (isOpen(delivery) && !organizations.isOver(delivery))
      yield ['comes to rest', `${delivery.id} is still ${delivery.status}`];
  yield* restlessness(world);
  for (const entry of world.entries.values()) yield* wrongDeliveries(world, entry);
  for (const delivery of [...world.tables.deliveries.values()]) {
    // A delivery of a job has no work item of its own in the outbox.
    const isOfEvent = isFirstDelivery(delivery) || isFromJob(delivery);
    const entry = world.entries.get(isOfEvent ? delivery.eventId : delivery.id);
    if (entry === undefined) yield ['right deliveries', `${delivery.id} is of nothing that was committed`];
  }
  yield* wrongNotices(world);
  yield* wrongWarnings(world);
  yield* wrongStateEvents(world);
  yield* wrongLedger(world);
  yield* leftOver(world);
  yield* world.witness.jobs.faults();
  yield* repetitions(world);
}

/** No row of a deleted generation is left, and no work on it is open. */
function* leftOver({ tables, organizations, faults }: World): Generator<Fault> {
  for (const purge of tables.purges.values())
    yield ['comes to rest', `the purge of ${buildTenantKey(purge)} is not done`];
  if (faults.beyondMargin) return;
  for (const name of OF_SANDBOXES)
    for (const tenant of organizations.deleted)
      if (tables.hasRowsOf(name, tenant))
        yield ['complete purge', `the ${name} still has a row of ${buildTenantKey(tenant)}`];
}

function* restlessness(world: World) {
  const { lanes, deadMessages, deadFanOuts, tables, processes, shards, organizations } = world;
  const fault = (detail: string): Fault => ['comes to rest', detail];
  for (const { id } of [...lanes.deliveryMessages, ...lanes.deadLetters, ...deadMessages.contents])
    yield fault(`a message of ${id} is left`);
  if (deadFanOuts.contents.length > 0) yield fault('a dead letter of the fan-out is left');
  for (const id of tables.due.keys()) {
    const delivery = tables.deliveries.get(id);
    if (delivery && !organizations.isOver(delivery)) yield fault(`${id} is still in the due index`);
  }
  for (const { process, call } of processes.stops) yield fault(`${process.name} still waits for ${call}`);
  for (const { id, isDrained } of shards) if (!isDrained) yield fault(`${id} was not read to its end`);
}

/**
 * An event has a delivery for each endpoint that was subscribed during its whole fan-out, and for none that
 * never was.
 */
function* wrongDeliveries(world: World, { owed, committed, done, isAbandoned }: Entry): Generator<Fault> {
  if (owed.kind === 'redelivery' || isAbandoned || world.organizations.isOver(owed.event)) return;
  const { event } = owed;
  if (done === undefined) {
    yield ['nothing lost', `the fan-out never processed ${event.id}`];
    return;
  }
  const made = [...world.tables.deliveries.values()].filter(
    (delivery) => delivery.eventId === event.id && isFirstDelivery(delivery),
  );
  for (const id of world.history.ids) {
    const ofIt = made.filter(({ webhookId }) => webhookId === id);
    if (ofIt.length > 1) yield ['right deliveries', `${event.id} has ${ofIt.length} deliveries to ${id}`];
    if (ofIt.length > 0 && !world.history.wanted(id, event, committed).includes(true))
      yield ['right deliveries', `${event.id} was not for ${id}`];
    if (ofIt.length === 0 && world.history.wanted(id, event, committed, done).every(Boolean))
      yield ['nothing lost', `${event.id} has no delivery to ${id}`];
  }
}

/** Events that only a job has brought, and more than once. */
function* repetitions({ tables, abandoned, organizations }: World): Generator<Fault> {
  const arrived = [...tables.deliveries.values()].filter(
    (delivery) =>
      delivery.status === 'succeeded' &&
      (isFirstDelivery(delivery) || isFromJob(delivery)) &&
      abandoned.has(delivery.eventId) &&
      !organizations.isOver(delivery),
  );
  for (const [name, { length }] of Map.groupBy(arrived, (one) => `${one.eventId} at ${one.webhookId}`))
    if (length > 1) yield ['whole job', `${name} has arrived ${length} times`];
}

function* wrongNotices({ notices, witness }: World): Generator<Fault> {
  const told = notices.map(({ id }) => id);
  if (new Set(told).size !== told.length) yield ['exact count', 'admins were notified twice'];
  if (told.length !== witness.counts.disablings)
    yield [
      'exact count',
      `${witness.counts.disablings} endpoints were disabled and ${told.length} notices sent`,
    ];
}

function* wrongWarnings({ warnings: all, witness }: World): Generator<Fault> {
  const sent = Map.groupBy(all, ({ data }) => String(data.webhookId));
  for (const id of new Set([...sent.keys(), ...witness.counts.warned.keys()])) {
    const [warnings, due] = [sent.get(id)?.length ?? 0, witness.counts.warned.get(id as ReceiverId) ?? 0];
    if (warnings !== due)
      yield ['one warning', `${id} had ${due} streaks of five failures, and ${warnings} warnings`];
  }
}

/** Channels have no such events. */
function* wrongStateEvents({ stateEvents, witness }: World): Generator<Fault> {
  const sent = stateEvents.map(({ type, filterValues }) => `${type} ${filterValues?.webhookId}`).toSorted();
  const due = witness.counts.states.filter((state) => !state.includes(' chn_')).toSorted();
  if (sent.join() !== due.join())
    yield ['state events', `${due.join(', ') || 'nothing'} is due, and ${sent.join(', ') || 'nothing'} sent`];
}

/** The expected ledger, computed from the deliveries. */
function* wrongLedger(world: World): Generator<Fault> {
  const truth = new Map<string, LedgerCounts>();
  for (const { id, orgId, webhookId, generation, status, attempts, attemptLog } of [
    ...world.tables.deliveries.values(),
  ]) {
    if (world.organizations.isOver({ orgId, generation })) continue;
    const hour = new Date(Math.floor(world.createdMs(id) / MS_PER_HOUR) * MS_PER_HOUR).toISOString();
    const key = `${webhookId}#${generation}#${hour}`;
    const counts = truth.get(key) ?? { ...NO_COUNTS };
    counts.owed += 1;
    if (status !== 'pending' && status !== 'retrying') counts[status] += 1;
    counts.duplicates += attempts - attemptLog.length;
    truth.set(key, counts);
  }
  for (const { webhookId, generation, hour, ...counts } of world.tables.ledger) {
    const key = `${webhookId}#${generation}#${hour}`;
    const counted = JSON.stringify(toCounts(counts));
    const truly = JSON.stringify(truth.get(key));
    truth.delete(key);
    const tenant = world.tenantAt({ webhookId, generation });
    if (counted === truly || (tenant && world.organizations.isOver(tenant))) continue;
    if (!world.correctedTooSoon.has(key) && !world.uncounted.has(key))
      yield ['true ledger', `${key} counts ${counted} where there are ${truly}`];
  }
  for (const key of truth.keys())
    if (!world.uncounted.has(key)) yield ['true ledger', `nothing is counted for ${key}`];
}

/** The row of an entry has other attributes too. */
const toCounts = (row: LedgerCounts): LedgerCounts => ({
  owed: row.owed,
  succeeded: row.succeeded,
  exhausted: row.exhausted,
  skipped: row.skipped,
  duplicates: row.duplicates,
});
