import { RECONCILE_LOOKAHEAD_SECONDS } from '../../functions/domain/timing.ts';
import { audit } from '../../functions/engine/audit.ts';
import { deadFanOut, deadReminder } from '../../functions/engine/dead-letters.ts';
import { fanOut } from '../../functions/engine/fan-out.ts';
import { reconcile } from '../../functions/engine/reconcile.ts';
import { watch } from '../../functions/engine/watch.ts';
import type { RowChange } from '../doubles/memory-deliveries.ts';
import type { Process } from './processes.ts';
import { EXPIRY_MS } from './promises.ts';
import type { Reach } from './reach.ts';
import type { StreamShard } from './stream-shard.ts';
import type { Entry, World } from './world.ts';

/** Timeouts as the stack sets them, in seconds. */
const SECONDS = {
  'fan-out': 30,
  watch: 60,
  reconcile: 55,
  audit: 900,
  'dead-reminders': 30,
  'dead-fan-outs': 30,
};
type Kind = keyof typeof SECONDS;

/** Hours after which an entry of the stream cannot be read any more. */
const STREAM_HOURS = 24;
const MS_PER_HOUR = 3_600_000;

/** Between two tries at what the fan-out failed at. */
const PATIENCE_MS = 900_000;

/** The functions that run once and keep nothing, as the stack invokes them. */
export class Functions {
  readonly #world: World;
  readonly #reach: (process: Process) => Reach;

  constructor(world: World, reach: (process: Process) => Reach) {
    this.#world = world;
    this.#reach = reach;
  }

  /** Runs `work` in a process of its own. @param over called once, when it ended, failed, or was lost */
  #invoke(kind: Kind, work: (reach: Reach) => Promise<void>, over: (failed: boolean) => void): void {
    const { processes, clock, random, faults, witness } = this.#world;
    const process = processes.start(kind, random.between(-faults.maxSkewMs, faults.maxSkewMs));
    process.deadline = clock.ms + SECONDS[kind] * 1000;
    let isOver = false;
    const end = (failed: boolean) => {
      if (!isOver) over(failed);
      isOver = true;
    };
    process.whenLost = () => end(true);
    const retire = (failed: boolean) => {
      end(failed);
      processes.lose(process);
    };
    work(this.#reach(process)).then(
      () => retire(false),
      (error: unknown) => {
        if (error instanceof TypeError) witness.tell('no defect', `${process.name}: ${error.stack}`);
        retire(true);
      },
    );
  }

  fanOut(shard: StreamShard<Entry>): void {
    const batch = shard.take(this.#world.random.between(1, 10));
    let failed: number[] = [];
    this.#invoke(
      'fan-out',
      async (reach) => {
        const run = this.#fanOutOf(reach);
        const again = await run(batch.records.map(({ value }) => value.owed));
        failed = batch.records.flatMap(({ value, sequence }) =>
          again.includes(value.owed) ? [sequence] : [],
        );
      },
      (lost) => {
        if (lost) return shard.failed(batch);
        // From the first failure on all are handed out again.
        const until = Math.min(...failed, Number.POSITIVE_INFINITY);
        for (const { value, sequence } of batch.records) if (sequence < until) this.#world.isDone(value);
        shard.answered(batch, failed);
      },
    );
  }

  readonly #fanOutOf = ({ endpoints, deliveries, queues, log, now }: Reach) =>
    fanOut({ subscribers: endpoints, deliveries, queues, log, now });

  watch(shard: StreamShard<RowChange>): void {
    const batch = shard.take(this.#world.random.between(1, 20));
    this.#invoke(
      'watch',
      async ({ due, ledger, log, now }) => {
        const run = watch({ due, ledger, log, now }, this.#world.terms);
        await run(
          shard.id,
          batch.records.map(({ value, sequence }) => ({ ...value, sequence: String(sequence) })),
        );
      },
      (lost) => (lost ? shard.failed(batch) : shard.answered(batch, [])),
    );
  }

  reconcile(over: () => void): void {
    const { random, faults, statistics, terms, witness, isUntroubled, clock } = this.#world;
    const since = clock.ms;
    this.#invoke(
      'reconcile',
      async ({ due, queues, log, now }) => {
        const run = reconcile(
          { due, queues, log, now },
          { shards: 1, graceSeconds: terms.graceSeconds, lookaheadSeconds: RECONCILE_LOOKAHEAD_SECONDS },
        );
        const done = await run(() => this.#world.isUntroubled || !random.chance(0.05));
        statistics.count('parked deliveries resumed', done.resumed);
        statistics.count('reminders sent again', done.resent);
        if (isUntroubled && done.complete && done.refused === 0) this.#nothingIsDue(since - faults.maxSkewMs);
        if (faults.isCalm && done.resent + done.expired > 0)
          witness.tell('comes to rest', 'the reconciler had something to do although nothing was lost');
      },
      over,
    );
  }

  /** What a run of the reconciler has found due is not due any more. */
  #nothingIsDue(sinceMs: number): void {
    const since = new Date(sinceMs).toISOString();
    for (const { delivery, due } of this.#world.deliveries.due)
      if (due.dueAt < since && (delivery.lease?.until ?? 0) < sinceMs)
        this.#world.witness.tell('comes to rest', `the reconciler has left ${delivery.id} due`);
  }

  audit(over: () => void): void {
    const { ledger, deliveries, terms, statistics, witness, faults } = this.#world;
    this.#invoke(
      'audit',
      async ({ due, gate, log, now }) => {
        const books = gate('books', {
          inHour: async (hour: string) => ({ entries: ledger.every.filter((entry) => entry.hour === hour) }),
          correct: (...[seen, counts]: Parameters<typeof ledger.correct>) => {
            if (this.#world.ledgerLags) this.#world.correctedTooSoon.add(`${seen.webhookId}/${seen.hour}`);
            return ledger.correct(seen, counts);
          },
        });
        const rows = gate('rows', {
          inHour: async ({ webhookId, hour }: { webhookId: string; hour: string }) => ({
            deliveries: deliveries.every.filter(
              (delivery) =>
                delivery.webhookId === webhookId &&
                Math.floor(this.#world.createdMs(delivery.id) / MS_PER_HOUR) * MS_PER_HOUR ===
                  new Date(hour).getTime(),
            ),
          }),
        });
        const run = audit(
          { ledger: books, deliveries: rows, due, log, now },
          { ledgerShards: 1, deliveryShards: 1, graceSeconds: terms.graceSeconds },
        );
        const { differing } = await run(() => true);
        statistics.count('ledger entries that differed', differing);
        // One that goes on hours after its time writes down a time that is long past, of which the stream tells only now.
        if (differing > 0 && !faults.beyondMargin && !this.#world.ledgerLags)
          witness.tell('true ledger', 'an audit found the ledger wrong although it had counted in time');
      },
      over,
    );
  }

  deadReminder(): void {
    const { deadReminders, clock, terms, witness } = this.#world;
    const letter = deadReminders.receive(clock.ms);
    if (letter === undefined) return;
    this.#invoke(
      'dead-reminders',
      ({ due, log, now }) => deadReminder({ due, log, now }, terms)(letter.content),
      (failed) => {
        if (failed) return;
        deadReminders.remove(letter);
        witness.buried(letter.content);
      },
    );
  }

  deadFanOut(): void {
    const { deadFanOuts, clock, entries, outboxShards } = this.#world;
    const letter = deadFanOuts.receive(clock.ms);
    if (letter === undefined) return;
    const { content } = letter;
    const shard = outboxShards.find(({ id }) => content.kind === 'records' && id === content.records.shardId);
    const records =
      content.kind === 'records'
        ? (shard?.records.slice(
            Number(content.records.startSequenceNumber) - 1,
            Number(content.records.endSequenceNumber),
          ) ?? [])
        : [];
    const named = content.kind === 'entries' ? content.ids.flatMap((id) => entries.get(id) ?? []) : [];
    const concerned = [...records.map(({ value }) => value), ...named];
    const isForgotten = () =>
      records.some(({ writtenMs }) => clock.ms - writtenMs > STREAM_HOURS * MS_PER_HOUR);
    const again = new Set<string>();
    this.#invoke(
      'dead-fan-outs',
      async (reach) => {
        const ports = reach.gate('dead', {
          read: async () => (isForgotten() ? undefined : records.map(({ value }) => value.owed)),
          find: async (id: string) => entries.get(id)?.owed,
          postpone: async (ids: readonly string[]) => {
            deadFanOuts.send({ kind: 'entries', ids }, clock.ms + PATIENCE_MS);
            for (const id of ids) again.add(id);
          },
        });
        const deal = deadFanOut({
          stream: { read: ports.read },
          outbox: { find: ports.find },
          fanOut: this.#fanOutOf(reach),
          postpone: ports.postpone,
          log: reach.log,
          now: reach.now,
        });
        const abandoned = await deal(content);
        if (
          abandoned > 0 &&
          !isForgotten() &&
          concerned.every((entry) => this.#world.ageMs(entry) < EXPIRY_MS)
        )
          this.#world.witness.tell('nothing lost', 'the fan-out gave up what it could still have dealt with');
        for (const entry of concerned) {
          if (again.has(idOf(entry))) continue;
          if (abandoned > 0) entry.isAbandoned = true;
          else this.#world.isDone(entry);
        }
      },
      (failed) => {
        if (!failed) deadFanOuts.remove(letter);
      },
    );
  }
}

const idOf = ({ owed }: Entry): string => (owed.kind === 'event' ? owed.event.id : owed.reminder.id);
