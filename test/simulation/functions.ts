import type { OrgId, ReceiverId } from '../../functions/aws/ids.ts';
import { dueIndex } from '../../functions/delivery/due-index.ts';
import { fanOut } from '../../functions/delivery/fan-out.ts';
import { buildEntryKey, deliveriesInHour, ledgerStore } from '../../functions/delivery/ledger.ts';
import { auditLedger, processDeliveryStream } from '../../functions/delivery/ledger-updates.ts';
import { getWorkKey, WORK } from '../../functions/delivery/outbox.ts';
import { RESENT_IN_BACKLOG, reconcileDeliveries } from '../../functions/delivery/reconcile.ts';
import type { OutboxWork } from '../../functions/delivery/redelivery.ts';
import { parseDelivery } from '../../functions/delivery/rows.ts';
import { endpointStore } from '../../functions/receivers/endpoints.ts';
import {
  DEFAULT_LINGER_SECONDS,
  purgeSandboxes,
  purgeStore,
  sandboxRows,
} from '../../functions/tenancy/purge.ts';
import { ROUND } from '../../functions/tenancy/sweep.ts';
import { isSandbox } from '../../functions/tenancy/tenant.ts';
import type { Change } from './delivery-stream.ts';
import type { Entry } from './entries.ts';
import { logTo } from './failures.ts';
import type { Invoke } from './invocations.ts';
import { isOpen } from './moves.ts';
import type { Process } from './processes.ts';
import type { Reach } from './reach.ts';
import type { StreamRecord, StreamShard } from './stream-shard.ts';
import type { World } from './world.ts';

/** Until the work that the fan-out failed at is first repeated. */
export const PATIENCE_MS = 5_000;

// A run has few deliveries, so that these shares of them are small too.
Object.assign(RESENT_IN_BACKLOG, { ofOrganization: 1, inAll: 4 });
Object.assign(ROUND, { entries: 3 });

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
    const handedOver = new Set<number>();
    this.#invoke(
      'fan-out',
      async (reach) => {
        const run = fanOutOf(reach);
        const entries = batch.records.flatMap(({ value, sequence }) => {
          const work = WORK.parse(value.row);
          return work === undefined ? [] : [{ work, sequence }];
        });
        const again = new Set(await run(entries.map(({ work }) => work)));
        const sequences = entries.flatMap(({ work, sequence }) => (again.has(work) ? [sequence] : []));
        if (again.size === 0) return;
        try {
          await reach.gate('dead', { handOver: this.#handOver }).handOver([...again]);
          for (const sequence of sequences) handedOver.add(sequence);
        } catch {
          failed = sequences;
        }
      },
      (lost) => {
        if (lost) return shard.failed(batch);
        // All records from the first failure on are repeated.
        const until = Math.min(...failed, Number.POSITIVE_INFINITY);
        for (const { value, sequence } of batch.records)
          if (sequence < until && !handedOver.has(sequence)) this.#world.isDone(value);
        shard.answered(batch, failed);
      },
    );
  }

  readonly #handOver = async (works: readonly OutboxWork[]): Promise<void> => {
    const { deadFanOuts, clock } = this.#world;
    deadFanOuts.send({ kind: 'entries', keys: works.map(getWorkKey) }, clock.ms + PATIENCE_MS);
  };

  watch(shard: StreamShard<Change>): void {
    const batch = shard.take(this.#world.random.between(1, 20));
    this.#invoke(
      'delivery-stream',
      async ({ tables, organizations, notFound, log, now }) => {
        const due = dueIndex(tables.deliveries);
        const ledger = ledgerStore(tables.ledger);
        const run = processDeliveryStream({ due, ledger, organizations, log, now }, this.#world.terms);
        const changes = batch.records.map(({ value: { kind, delivery }, sequence }) => ({
          kind,
          delivery: parseDelivery(delivery),
          sequence: String(sequence),
        }));
        await run(shard.id, changes);
        this.#watched(batch.records, notFound);
      },
      (lost) => (lost ? shard.failed(batch) : shard.answered(batch, [])),
    );
  }

  /**
   * A successful run of `delivery-stream` has counted or dropped its records, and watches the open deliveries
   * among them.
   */
  #watched(records: readonly StreamRecord<Change>[], notFound: ReadonlySet<OrgId>): void {
    const { organizations, deliveryStream, tables, uncounted, witness, statistics } = this.#world;
    for (const record of records) {
      const { delivery } = record.value;
      const isOver = organizations.isOver(delivery);
      const isUnknown = isSandbox(delivery) && notFound.has(delivery.orgId);
      if (isOver || isUnknown) deliveryStream.drop(record);
      if (isOver) statistics.count('changes of deleted data');
      else if (isUnknown) uncounted.add(buildEntryKey(delivery));
      const present = tables.deliveries.get(delivery.id);
      if (isOver || present === undefined || !isOpen(present)) continue;
      if (!tables.due.has(delivery.id))
        witness.tell('nothing lost', `the watch is done with ${delivery.id}, and nothing watches it`);
    }
  }

  purge(over: () => void): void {
    const { terms, statistics } = this.#world;
    this.#invoke(
      'purge',
      async ({ process, tables: { outbox, deliveries, ledger, knowledge, service }, log, now }) => {
        const remains = [outbox, deliveries, ledger, knowledge, service].map(sandboxRows);
        const run = purgeSandboxes(
          { purges: purgeStore(service), remains, log, now },
          { lingerSeconds: DEFAULT_LINGER_SECONDS, leaseSeconds: terms.purgeLeaseSeconds },
        );
        await this.#inTime(process, run);
        statistics.count('runs of the purge');
      },
      (failed) => {
        if (failed) statistics.count('runs of the purge that failed');
        over();
      },
    );
  }

  reconcile(over: () => void): void {
    const { faults, statistics, terms, witness, isUntroubled, clock, organizations } = this.#world;
    const since = clock.ms;
    this.#invoke(
      'reconcile',
      async ({ process, tables, queues, log, now }) => {
        const run = reconcileDeliveries(
          { due: dueIndex(tables.deliveries), queues, log, now },
          {
            graceSeconds: terms.graceSeconds,
            longBacklog: terms.longBacklog,
          },
        );
        const done = await this.#inTime(process, run);
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

  /** A run of a scheduled worker, which can end anywhere, or when its time is used up. */
  async #inTime<T>(process: Process, run: (hasTime: () => boolean) => Promise<T>): Promise<T> {
    const { random, faults, witness } = this.#world;
    let isCut = false;
    witness.turns.begins(process);
    const done = await run(() => {
      isCut ||= !this.#world.isUntroubled && random.chance(0.05);
      return !isCut && (!faults.shortRuns || witness.turns.hasTime(process));
    });
    if (!isCut && !process.isDisturbed) witness.turns.ended(process);
    return done;
  }

  /** What a run of the reconciler has found due is not due any more. */
  #nothingIsDue(sinceMs: number): void {
    const { organizations, tables, witness } = this.#world;
    const since = new Date(sinceMs).toISOString();
    for (const [id, { dueAt }] of tables.due) {
      const delivery = tables.deliveries.get(id);
      if (delivery === undefined || dueAt >= since || organizations.isOver(delivery)) continue;
      if ((delivery.lease?.until ?? 0) < sinceMs)
        witness.tell('comes to rest', `the reconciler has left ${id} due`);
    }
  }

  'audit-ledger'(over: () => void): void {
    const { terms, statistics, witness, faults, uncounted } = this.#world;
    this.#invoke(
      'audit-ledger',
      async ({ process, tables, organizations, notFound, log, now }) => {
        const judging = logTo((line, fields) => {
          log(line as Parameters<typeof log>[0], fields);
          if (line !== 'LEDGER_DIFFERS' && line !== 'LEDGER_CORRECTED') return;
          const webhookId = fields.webhookId as ReceiverId;
          const tenant = this.#world.tenantAt({ webhookId, generation: Number(fields.generation) });
          if (notFound.size === 0 && tenant !== undefined)
            witness.resetDeletion.writes(process, 'judges an entry', tenant);
        });
        const run = auditLedger(
          {
            ledger: ledgerStore(tables.ledger),
            readDeliveries: deliveriesInHour(tables.deliveries),
            due: dueIndex(tables.deliveries),
            organizations,
            log: judging,
            now,
          },
          { graceSeconds: terms.graceSeconds },
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

export const fanOutOf = ({ tables, deliveries, queues, organizations, log, now }: Reach) =>
  fanOut({ subscribers: endpointStore(tables.service), deliveries, queues, organizations, log, now });
