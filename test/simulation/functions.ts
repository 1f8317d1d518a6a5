import type { OrgId, ReceiverId } from '../../functions/domain/ids.ts';
import { buildEntryKey, type LedgerEntry } from '../../functions/domain/ledger.ts';
import { DEFAULT_LINGER_SECONDS } from '../../functions/domain/sandbox.ts';
import { isSandbox } from '../../functions/domain/tenant.ts';
import { RECONCILE_LOOKAHEAD_SECONDS } from '../../functions/domain/timing.ts';
import type { RowChange } from '../doubles/memory-deliveries.ts';
import type { Entry } from './entries.ts';
import { logTo } from './failures.ts';
import type { Invoke } from './invocations.ts';
import { isOpen } from './moves.ts';
import type { Reach } from './reach.ts';
import type { StreamRecord, StreamShard } from './stream-shard.ts';
import type { World } from './world.ts';

/** The functions without state between invocations, as the stack invokes them. */
export class Functions {
  readonly #world: World;
  readonly #invoke: Invoke;

  constructor(world: World, invoke: Invoke) {
    this.#world = world;
    this.#invoke = invoke;
  }

  fanOut(shard: StreamShard<Entry>): void {
    const batch = shard.take(this.#world.random.between(1, 10));
    let failed: number[] = [];
    this.#invoke(
      'fan-out',
      async (reach) => {
        const run = fanOutOf(reach);
        const entries = batch.records.map(({ value, sequence }) => ({
          owed: reach.own.owed(value),
          sequence,
        }));
        const again = new Set(await run(entries.map(({ owed }) => owed)));
        failed = entries.flatMap(({ owed, sequence }) => (again.has(owed) ? [sequence] : []));
      },
      (lost) => {
        if (lost) return shard.failed(batch);
        // All records from the first failure on are repeated.
        const until = Math.min(...failed, Number.POSITIVE_INFINITY);
        for (const { value, sequence } of batch.records) if (sequence < until) this.#world.isDone(value);
        shard.answered(batch, failed);
      },
    );
  }

  watch(shard: StreamShard<RowChange>): void {
    const batch = shard.take(this.#world.random.between(1, 20));
    this.#invoke(
      'delivery-stream',
      async ({ own, due, ledger, standings, notFound, log, now }) => {
        const run = own.engine.processDeliveryStream(
          { due, ledger, organizations: standings, log, now },
          this.#world.terms,
        );
        await run(shard.id, own.changes(batch.records));
        this.#watched(batch.records, notFound);
      },
      (lost) => (lost ? shard.failed(batch) : shard.answered(batch, [])),
    );
  }

  /**
   * A successful run of `delivery-stream` has counted or dropped its records, and watches the open deliveries
   * among them.
   */
  #watched(records: readonly StreamRecord<RowChange>[], notFound: ReadonlySet<OrgId>): void {
    const { organizations, deliveryStream, deliveries, uncounted, witness, statistics } = this.#world;
    for (const record of records) {
      const { delivery } = record.value;
      const isOver = organizations.isOver(delivery);
      const isUnknown = isSandbox(delivery) && notFound.has(delivery.orgId);
      if (isOver || isUnknown) deliveryStream.drop(record);
      if (isOver) statistics.count('changes of deleted data');
      else if (isUnknown) uncounted.add(buildEntryKey(delivery));
      const present = deliveries.present(delivery);
      if (isOver || present === undefined || !isOpen(present)) continue;
      if (deliveries.dueOf(delivery) === undefined)
        witness.tell('nothing lost', `the watch is done with ${delivery.id}, and nothing watches it`);
    }
  }

  purge(over: () => void): void {
    const { random, terms, statistics } = this.#world;
    this.#invoke(
      'purge',
      async ({ own, purges, remains, log, now }) => {
        const run = own.engine.purgeSandboxes(
          { purges, remains, log, now },
          { lingerSeconds: DEFAULT_LINGER_SECONDS, leaseSeconds: terms.purgeLeaseSeconds },
        );
        await run(() => this.#world.isUntroubled || !random.chance(0.05));
        statistics.count('runs of the purge');
      },
      (failed) => {
        if (failed) statistics.count('runs of the purge that failed');
        over();
      },
    );
  }

  reconcile(over: () => void): void {
    const { random, faults, statistics, terms, witness, isUntroubled, clock, organizations } = this.#world;
    const since = clock.ms;
    this.#invoke(
      'reconcile',
      async ({ own, due, queues, log, now }) => {
        const run = own.engine.reconcileDeliveries(
          { due, queues, log, now },
          {
            shards: 1,
            graceSeconds: terms.graceSeconds,
            lookaheadSeconds: RECONCILE_LOOKAHEAD_SECONDS,
            longBacklog: terms.longBacklog,
          },
        );
        const done = await run(() => this.#world.isUntroubled || !random.chance(0.05));
        statistics.count('parked deliveries resumed', done.resumed);
        statistics.count('delivery messages resent', done.resent);
        statistics.count('late deliveries deferred', done.deferred);
        if (isUntroubled && done.complete && done.refused === 0) this.#nothingIsDue(since - faults.maxSkewMs);
        // Messages of deleted data are removed.
        if (faults.isCalm && organizations.resets === 0 && done.resent + done.expired > 0)
          witness.tell('comes to rest', 'the reconciler had something to do although nothing was lost');
      },
      over,
    );
  }

  /** What a run of the reconciler has found due is not due any more. */
  #nothingIsDue(sinceMs: number): void {
    const since = new Date(sinceMs).toISOString();
    const { organizations, deliveries } = this.#world;
    for (const { delivery, due } of deliveries.due)
      if (due.dueAt < since && (delivery.lease?.until ?? 0) < sinceMs && !organizations.isOver(delivery))
        this.#world.witness.tell('comes to rest', `the reconciler has left ${delivery.id} due`);
  }

  'audit-ledger'(over: () => void): void {
    const { terms, statistics, witness, faults, uncounted } = this.#world;
    this.#invoke(
      'audit-ledger',
      async ({ process, own, due, gate, standings, notFound, log, now }) => {
        const books = gate('books', {
          inHour: (hour: string, shard: number) => own.ledger.inHour(hour, shard),
          correct: (...[seen, counts]: Parameters<typeof own.ledger.correct>) => {
            if (this.#world.streamLosesRecords)
              this.#world.correctedTooSoon.add(`${seen.webhookId}#${seen.generation}#${seen.hour}`);
            return own.ledger.correct(seen, counts);
          },
        });
        const rows = gate('rows', {
          inHour: (entry: LedgerEntry, shard: number) => own.rows.inHour(entry, shard),
        });
        const judging = logTo((line, fields) => {
          log(line as Parameters<typeof log>[0], fields);
          // The audit logs an entry only if it has judged it as wrong.
          if (fields.webhookId === undefined || fields.hour === undefined) return;
          const webhookId = fields.webhookId as ReceiverId;
          const tenant = this.#world.tenantAt({ webhookId, generation: Number(fields.generation) });
          if (notFound.size === 0 && tenant !== undefined)
            witness.resetDeletion.writes(process, 'judges an entry', tenant);
        });
        const run = own.engine.auditLedger(
          { ledger: books, deliveries: rows, due, organizations: standings, log: judging, now },
          { ledgerShards: 1, deliveryShards: 1, graceSeconds: terms.graceSeconds },
        );
        const { differing } = await run(() => true);
        statistics.count('ledger entries that differed', differing);
        // A process that continues hours after its timeout writes a time long past, which the stream reports
        // only now.
        const isExcused = faults.beyondMargin || this.#world.ledgerLags;
        // Changes of an organization that was not found are not counted, but the audit includes them.
        if (differing > 0 && !isExcused && uncounted.size + notFound.size === 0)
          witness.tell('true ledger', 'an audit found the ledger wrong although it had counted in time');
      },
      over,
    );
  }
}

export const fanOutOf = ({ own, endpoints, deliveries, queues, standings, log, now }: Reach) =>
  own.engine.fanOut({ subscribers: endpoints, deliveries, queues, organizations: standings, log, now });
