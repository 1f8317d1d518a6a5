import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import {
  deliveriesInHour,
  getLedgerHour,
  type LedgerEntry,
  sumChanges,
} from '../../../functions/delivery/ledger.ts';
import { type AuditLedgerPorts, auditLedger } from '../../../functions/delivery/ledger-updates.ts';
import { buildDeliveryKey } from '../../../functions/delivery/rows.ts';
import { DEFAULT_GRACE_SECONDS } from '../../../functions/delivery/timing.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { ledgerIn } from '../../doubles/memory-ledger.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

const hoursAgo = (hours: number): Date => later(NOW, -seconds(hours * 3600));
/** A run that has time for everything. */
const IN_FULL = () => true;

/** Deliveries per page. */
const PAGE = 3;

/** The ledger audit over deliveries and their ledger in memory. */
function aLedgerAudit(replaced: Partial<AuditLedgerPorts> = {}) {
  const clock = new VirtualClock();
  const states = memoryOrganizationStates();
  const log = recordedLog();
  const endpoints = new MemoryEndpoints();
  const deliveries = memoryDeliveries(endpoints);
  const due = deliveries.dueIndex;
  const ledger = ledgerIn(deliveries.tables.ledger);
  const inHour = deliveriesInHour({ ...deliveries.tables.deliveries, reportUnreadable: () => undefined });
  let reads = 0;
  endpoints.service.pass = async (operation, input, answer) => {
    if (operation !== 'Query' || input.TableName !== 'deliveries') return answer();
    reads += 1;
    return Object.assign(input, { Limit: PAGE }) && answer();
  };
  let parts = 0;

  const run = auditLedger(
    { ledger, readDeliveries: inHour, due, organizations: states, log, now: clock.now, ...replaced },
    { graceSeconds: DEFAULT_GRACE_SECONDS },
  );

  /** Adds a delivery that was created at `born`. */
  async function add(born: Date, changes: Partial<Delivery> = {}): Promise<Delivery> {
    const delivery = aDelivery({ id: newId('dlv', born), createdAt: born.toISOString(), ...changes });
    await deliveries.add(delivery);
    return delivery;
  }

  return {
    clock,
    log,
    states,
    deliveries,
    ledger,
    /** Makes a delivery unreadable. */
    spoil(delivery: Delivery): void {
      endpoints.service.written = () => undefined;
      endpoints.service.memory.put('deliveries', { ...buildDeliveryKey(delivery), status: 'lost' });
    },
    run,
    add,
    /** Adds a delivery that ended a minute after its creation. */
    addEnded: (born: Date, changes: Partial<Delivery> = {}) =>
      add(born, {
        status: 'succeeded',
        attempts: 1,
        attemptLog: [{ number: 1, startedAt: born.toISOString(), durationMs: 1 }],
        terminalAt: later(born, seconds(60)).toISOString(),
        ...changes,
      }),
    /** Counts deliveries as the stream's worker does. */
    async count(...counted: readonly Delivery[]): Promise<void> {
      for (const entry of sumChanges(counted.map((delivery) => ({ kind: 'added', delivery }))))
        await ledger.add(part(), entry);
    },
    entryOf: async (delivery: Delivery): Promise<LedgerEntry | undefined> =>
      (await ledger.every()).find(
        ({ webhookId, hour }) => webhookId === delivery.webhookId && hour === getLedgerHour(delivery),
      ),
    /** The number of reads of deliveries. */
    reads: () => reads,
  };

  function part() {
    parts += 1;
    return { shardId: 'shardId-1', first: String(parts), last: String(parts) };
  }
}

const oneEndpoint = () => ({ orgId: newId('org', NOW), webhookId: newId('whk', NOW) });

describe('ledger audit of an hour whose counts agree', () => {
  it('reads no delivery', async () => {
    const { run, addEnded, count, reads } = aLedgerAudit();
    for (let number = 0; number < 50; number += 1) await count(await addEnded(hoursAgo(3)));

    expect(await run(IN_FULL)).toEqual({ entries: 50, open: 0, differing: 0, complete: true });

    expect(reads()).toBe(0);
  });
});

describe('ledger audit of an hour with open deliveries', () => {
  it('counts them, and finds no difference where they are open in the store too', async () => {
    const { run, add, addEnded, count, ledger, log, entryOf } = aLedgerAudit();
    const endpoint = oneEndpoint();
    const open = await add(hoursAgo(3), { ...endpoint, status: 'retrying', attempts: 5 });
    await count(open, await addEnded(hoursAgo(3), endpoint));
    const before = await ledger.every();

    expect(await run(IN_FULL)).toMatchObject({ entries: 1, open: 1, differing: 0 });

    expect(await ledger.every()).toEqual(before);
    expect(await entryOf(open)).toMatchObject({ owed: 2, succeeded: 1 });
    expect(log.entries).toEqual([]);
  });

  it('adds an open delivery to the due index if it is missing there', async () => {
    const { run, add, count, deliveries } = aLedgerAudit();
    const forgotten = await add(hoursAgo(6));
    const parked = await add(hoursAgo(6), { status: 'retrying' });
    const place = { state: 'parked' as const, dueAt: NOW.toISOString() };
    deliveries.putDue(parked, 'parked', NOW);
    await count(forgotten, parked);

    expect(await run(IN_FULL)).toMatchObject({ open: 2, differing: 0 });

    const dueAt = later(NOW, seconds(DEFAULT_GRACE_SECONDS)).toISOString();
    expect(deliveries.dueOf(forgotten)).toEqual({ state: 'watched', dueAt });
    expect(deliveries.dueOf(parked)).toEqual(place);
  });
});

describe('ledger audit of an hour whose counts differ', () => {
  it('reports and corrects an end that was not counted', async () => {
    const { run, addEnded, count, entryOf, log } = aLedgerAudit();
    const delivery = await addEnded(hoursAgo(98));
    await count({ ...delivery, status: 'pending' });

    expect(await run(IN_FULL)).toMatchObject({ open: 0, differing: 1 });

    expect(await entryOf(delivery)).toMatchObject({ owed: 1, succeeded: 1 });
    expect(log.entries).toMatchObject([{ level: 'error', fields: { webhookId: delivery.webhookId } }]);
    expect(await run(IN_FULL)).toMatchObject({ differing: 0 });
  });

  it('leaves an entry alone that changed while its deliveries were read', async () => {
    const setting = aLedgerAudit();
    const { run, addEnded, count, entryOf, ledger } = setting;
    const delivery = await addEnded(hoursAgo(98));
    await count({ ...delivery, status: 'pending' });
    const { correct } = ledger;
    ledger.correct = async (...correction) => {
      await count(await addEnded(hoursAgo(98), { webhookId: delivery.webhookId }));
      return correct.apply(ledger, correction);
    };

    await run(IN_FULL);

    expect(await entryOf(delivery)).toMatchObject({ owed: 2, succeeded: 1 });
  });

  it.each([3, 6, 24])(
    'reports the difference after %i hours and leaves it alone, since the stream may still deliver the change',
    async (age) => {
      const { run, addEnded, count, ledger, log } = aLedgerAudit();
      const delivery = await addEnded(hoursAgo(age));
      await count({ ...delivery, status: 'pending' });
      const before = await ledger.every();

      expect(await run(IN_FULL)).toMatchObject({ open: 0, differing: 1 });

      expect(await ledger.every()).toEqual(before);
      expect(log.entries).toMatchObject([{ level: 'error', fields: { webhookId: delivery.webhookId } }]);
    },
  );

  it('ignores ends of the last minutes, which the stream may still deliver', async () => {
    const { run, addEnded, count, entryOf, clock } = aLedgerAudit();
    const delivery = await addEnded(hoursAgo(3), { terminalAt: later(NOW, -seconds(599)).toISOString() });
    await count({ ...delivery, status: 'retrying' });

    expect(await run(IN_FULL)).toMatchObject({ differing: 0 });
    expect(await entryOf(delivery)).toMatchObject({ owed: 1, succeeded: 0 });

    clock.elapse(60);
    expect(await run(IN_FULL)).toMatchObject({ differing: 1 });
  });

  it('ignores deliveries created in the last minutes, which the stream may still deliver', async () => {
    const { run, add, count, entryOf, clock } = aLedgerAudit();
    const endpoint = oneEndpoint();
    const early = await add(hoursAgo(3), endpoint);
    await add(hoursAgo(3), { ...endpoint, createdAt: later(NOW, -seconds(599)).toISOString() });
    await count(early);

    expect(await run(IN_FULL)).toMatchObject({ differing: 0 });
    expect(await entryOf(early)).toMatchObject({ owed: 1 });

    clock.elapse(60);
    expect(await run(IN_FULL)).toMatchObject({ open: 2, differing: 1 });
  });
});

describe('hours of a ledger audit', () => {
  it.each([3, 6, 24, 98])('include the one of %i hours ago', async (age) => {
    const { run, add, count } = aLedgerAudit();
    await count(await add(hoursAgo(age)));

    expect(await run(IN_FULL)).toMatchObject({ entries: 1 });
  });

  it.each([0, 1, 2, 4, 80, 99])('exclude the one of %i hours ago', async (age) => {
    const { run, add, count } = aLedgerAudit();
    await count(await add(hoursAgo(age)));

    expect(await run(IN_FULL)).toMatchObject({ entries: 0 });
  });
});

describe('ledger audit of an hour with an unreadable delivery', () => {
  it('does not correct its entry, but corrects the one of another endpoint', async () => {
    const { run, addEnded, count, entryOf, spoil } = aLedgerAudit();
    const [first, second] = [await addEnded(hoursAgo(98)), await addEnded(hoursAgo(98))];
    for (const delivery of [first, second]) await count({ ...delivery, status: 'pending' });
    spoil(first);

    expect(await run(IN_FULL)).toMatchObject({ entries: 2, differing: 1 });

    expect(await entryOf(first)).toMatchObject({ owed: 1, succeeded: 0 });
    expect(await entryOf(second)).toMatchObject({ owed: 1, succeeded: 1 });
  });
});

describe('ledger audit whose time is up', () => {
  it('ends between two pages, reports it, and judges no entry that it has not read in full', async () => {
    const { run, add, addEnded, count, entryOf, ledger } = aLedgerAudit();
    const endpoint = oneEndpoint();
    const all = [];
    for (let number = 0; number < 30; number += 1) all.push(await addEnded(hoursAgo(3), endpoint));
    const open = await add(hoursAgo(3), endpoint);
    await count(open, ...all);
    const before = await ledger.every();

    // Eight reads of shards, and at least two pages of some deliveries.
    for (let pages = 0; pages < 10; pages += 1) {
      let left = pages;
      const result = await run(() => {
        left -= 1;
        return left >= 0;
      });
      expect(result).toMatchObject({ differing: 0, complete: false });
    }

    expect(await ledger.every()).toEqual(before);
    expect(await entryOf(open)).toMatchObject({ owed: 31, succeeded: 30 });
  });
});

const sandbox = { orgId: newId('org', NOW), webhookId: newId('whk', NOW), generation: 1 };

/** An hour of a sandbox that the ledger has counted and whose deliveries are gone. */
async function aPurgedHour(changes: Parameters<typeof aLedgerAudit>[0] = {}) {
  const setting = aLedgerAudit(changes);
  setting.states.makeSandbox(sandbox.orgId);
  const counted = await aLedgerAudit().add(hoursAgo(98), sandbox);
  await setting.count(counted);
  return setting;
}

describe('ledger audit of a sandbox', () => {
  it('corrects a difference in the present generation', async () => {
    const { run, ledger } = await aPurgedHour();

    expect(await run(IN_FULL)).toMatchObject({ differing: 1 });

    expect(await ledger.every()).toMatchObject([{ owed: 0 }]);
  });

  it('ignores a generation that a reset is deleting', async () => {
    const { run, states, ledger, log } = await aPurgedHour();
    states.reset(sandbox.orgId);
    const before = await ledger.every();

    expect(await run(IN_FULL)).toMatchObject({ differing: 0, open: 0 });

    expect(await ledger.every()).toEqual(before);
    expect(log.entries).toEqual([]);
  });

  it('audits an unknown organization like any other, and continues', async () => {
    const { run, states, add, count } = await aPurgedHour();
    states.forget(sandbox.orgId);
    for (let number = 0; number < 20; number += 1) await count(await add(hoursAgo(98)));

    expect(await run(IN_FULL)).toMatchObject({ entries: 21, open: 20, differing: 1, complete: true });
  });

  it('fails when an organization cannot be read, and reads none where the counts agree', async () => {
    const states = { of: () => Promise.reject(new Error('the table is throttled')) };
    await expect((await aPurgedHour({ organizations: states })).run(IN_FULL)).rejects.toThrow('throttled');

    const { run, addEnded, count } = aLedgerAudit({ organizations: states });
    await count(await addEnded(hoursAgo(98), sandbox));
    expect(await run(IN_FULL)).toMatchObject({ entries: 1, differing: 0 });
  });
});
