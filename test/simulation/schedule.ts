import type { Lane } from '../../functions/delivery/lanes.ts';
import { RECONCILE_EVERY_SECONDS, RECONCILE_LOOKAHEAD_SECONDS } from '../../functions/delivery/timing.ts';
import { DEFAULT_LINGER_SECONDS } from '../../functions/tenancy/purge.ts';
import { Customers } from './customers.ts';
import { DeadLetters } from './dead-letters.ts';
import { Dispatchers } from './dispatchers.ts';
import { fateOf } from './faults.ts';
import { Functions } from './functions.ts';
import { Happenings } from './happenings.ts';
import { invoker } from './invocations.ts';
import { isOpen } from './moves.ts';
import { type Fate, type Stop, settled } from './processes.ts';
import { EXPIRY_MS } from './promises.ts';
import { reachOf } from './reach.ts';
import { Readers } from './readers.ts';
import { Redeliveries } from './redeliveries.ts';
import type { World } from './world.ts';

/** Maximum of milliseconds that a call takes, unless it waits for something. */
const CALL_MS = 30;
/** Steps after which a run counts as endless. */
const MOST_STEPS = 100_000;
/** Ages of the hours that the audit checks, in hours. */
const AUDITED_AGES = [3, 6, 24, 98];
const MS_PER_HOUR = 3_600_000;

const MINUTE_MS = RECONCILE_EVERY_SECONDS * 1000;

/** More than the three days after which the fan-out abandons an entry. */
const OUTAGE_MS = EXPIRY_MS + MS_PER_HOUR;
/** A time between two tries of dead letters, which is longer than the service's own to save steps. */
const RETRIES_MS = 6 * MS_PER_HOUR;
/** Calls by which the fan-out finds receivers and makes deliveries. */
const isOfFanOut = ({ process: { kind }, call }: Stop): boolean =>
  (kind === 'fan-out' || kind === 'dead-fan-outs') && / (service|deliveries)$/.test(call);

/** Decides what happens next, until nothing is left to do. */
export class Schedule {
  readonly #world: World;
  readonly #dispatchers: Dispatchers;
  readonly #functions: Functions;
  readonly #deadLetters: DeadLetters;
  readonly #redeliveries: Redeliveries;
  readonly #customers: Customers;
  readonly #happenings: Happenings;
  readonly #readers: Readers;
  #reconcileMs = 0;
  #isReconciling = false;
  #auditMs: number;
  #isAuditing = false;
  #purgeMs = 0;
  #resumeMs = 0;
  steps = 0;

  constructor(world: World) {
    this.#world = world;
    const reach = reachOf(world);
    this.#dispatchers = new Dispatchers(world, reach);
    const invoke = invoker(world, reach);
    this.#functions = new Functions(world, invoke);
    this.#deadLetters = new DeadLetters(world, invoke);
    this.#redeliveries = new Redeliveries(world, invoke);
    this.#auditMs = nextHour(world.clock.ms);
    this.#readers = new Readers(world);
    this.#customers = new Customers(world);
    this.#happenings = new Happenings(world, this.#customers, this.#readers, {
      skip: () => {
        this.#reconcileMs += MINUTE_MS;
        this.#purgeMs += MINUTE_MS;
        this.#resumeMs += MINUTE_MS;
      },
      double: () =>
        world.random.pick([
          () => this.#functions.reconcile(() => undefined),
          () => this.#functions.purge(() => undefined),
          () => this.#functions['audit-ledger'](() => undefined),
          () => this.#redeliveries.resume(() => undefined),
        ])(),
    });
  }

  /** Runs with faults. */
  async trouble(): Promise<void> {
    const { random, faults, clock, witness } = this.#world;
    for (let step = 0; step < faults.steps && witness.violation === undefined; step += 1) {
      clock.elapseUntil(new Date(clock.ms + random.below(CALL_MS)));
      this.#endOverdue();
      if (random.chance(faults.perStep)) {
        this.#happenings.next();
        await settled();
      } else if (!(await this.#anything())) this.#waitForNext();
    }
  }

  /** The fan-out fails until it abandons its entries, after three days; nothing else does. */
  async outage(): Promise<void> {
    const { clock, statistics } = this.#world;
    statistics.count('outages of the fan-out');
    this.#customers.sendAbandoned();
    const endMs = clock.ms + OUTAGE_MS;
    const hasLasted = await this.#goOn(
      (stop) => (isOfFanOut(stop) ? 'fails' : 'goes-on'),
      () => clock.ms >= endMs || !this.#waitForNext(clock.ms + RETRIES_MS),
    );
    // Out of steps, the fan-out still has its entries, and may process them beside a job.
    if (!hasLasted) this.#world.abandoned.clear();
  }

  /** Runs without faults until all work has ended, for as long as it takes. */
  async rest(): Promise<void> {
    const { witness, abandoned } = this.#world;
    this.#world.calmDown();
    if (abandoned.size > 0) this.#customers.startAllJobs();
    const isOver = await this.#goOn(
      () => 'goes-on',
      () => this.#isAtRest || !this.#waitForNext(),
    );
    if (!isOver) witness.tell('comes to rest', `${MOST_STEPS} steps were not enough`);
    await this.#readers.finish();
    await this.#lastAudits();
  }

  /**
   * @param isOver asked when there is no work at once; otherwise lets time pass
   * @returns false when the steps did not suffice
   */
  async #goOn(getFate: (stop: Stop) => Fate, isOver: () => boolean): Promise<boolean> {
    const { clock, witness } = this.#world;
    const last = this.steps + MOST_STEPS;
    while (witness.violation === undefined && this.steps < last) {
      clock.elapseUntil(new Date(clock.ms + 1));
      this.#endOverdue();
      const [first] = this.#readyStops();
      if (first) await this.#letOn(first, getFate(first));
      else if (!(await this.#startOne(0)) && isOver()) return true;
    }
    return witness.violation !== undefined;
  }

  get #isAtRest(): boolean {
    const { lanes, deadMessages, deadFanOuts, rounds, shards, tables, processes, organizations } =
      this.#world;
    return (
      lanes.all.every((queue) => queue.deliveryMessages.length + queue.deadLetters.length === 0) &&
      deadMessages.contents.length + deadFanOuts.contents.length + rounds.contents.length === 0 &&
      tables.runs.size === 0 &&
      shards.every(({ isDrained }) => isDrained) &&
      processes.stops.length === 0 &&
      tables.purges.size === 0 &&
      ![...tables.deliveries.values()].some((delivery) => isOpen(delivery) && !organizations.isOver(delivery))
    );
  }

  /**
   * Runs one of the possible actions.
   * @returns whether there was one
   */
  async #anything(): Promise<boolean> {
    const { random, faults, statistics, processes } = this.#world;
    const stops = this.#readyStops();
    const starts = this.#starts();
    const which = random.below(stops.length + starts.length);
    const stop = stops[which];
    if (stop === undefined) return this.#startOne(which - stops.length, starts);
    const fate = stop.isTime ? 'goes-on' : fateOf(random, faults.perCall);
    if (fate !== 'goes-on') {
      statistics.count(`calls: ${fate}`);
      this.#world.trace?.(`- ${stop.process.name}  ${stop.call} ${fate}`);
    }
    if (fate === 'ends') processes.lose(stop.process);
    else await this.#letOn(stop, fate);
    return true;
  }

  async #letOn(stop: Stop, fate: Fate): Promise<void> {
    this.steps += 1;
    await this.#world.processes.letOn(stop, fate);
  }

  #readyStops(): Stop[] {
    const { processes, clock } = this.#world;
    return processes.stops.filter(({ readyAt }) => readyAt <= clock.ms);
  }

  /** The functions that could be invoked now. */
  #starts(): (() => void)[] {
    const { clock, outboxShards, deliveryStream, deadMessages, deadFanOuts, rounds } = this.#world;
    const starts: (() => void)[] = this.#dispatchers.waiting.map(
      (lane: Lane) => () => this.#dispatchers.start(lane),
    );
    for (const shard of outboxShards)
      if (shard.waits(clock.ms)) starts.push(() => this.#functions.fanOut(shard));
    for (const shard of deliveryStream.shards)
      if (shard.waits(clock.ms)) starts.push(() => this.#functions.watch(shard));
    if (deadMessages.waits(clock.ms)) starts.push(() => this.#deadLetters.deadMessage());
    if (deadFanOuts.waits(clock.ms)) starts.push(() => this.#deadLetters.deadFanOut());
    if (rounds.waits(clock.ms)) starts.push(() => this.#redeliveries.run());
    if (this.#resumeMs <= clock.ms && this.#nextResumeMs() <= clock.ms) starts.push(() => this.#resume());
    if (!this.#isReconciling && this.#reconcileMs <= clock.ms && this.#nextReconcileMs() <= clock.ms)
      starts.push(() => this.#reconcile());
    if (this.#purgeMs <= clock.ms && this.#nextPurgeMs() <= clock.ms) starts.push(() => this.#purge());
    if (!this.#isAuditing && this.#auditMs <= clock.ms) starts.push(() => this.#audit());
    return starts;
  }

  async #startOne(which: number, starts = this.#starts()): Promise<boolean> {
    const start = starts[which];
    if (start === undefined) return false;
    start();
    await settled();
    return true;
  }

  #reconcile(): void {
    this.#isReconciling = true;
    this.#reconcileMs = (Math.floor(this.#world.clock.ms / MINUTE_MS) + 1) * MINUTE_MS;
    this.#functions.reconcile(() => {
      this.#isReconciling = false;
    });
  }

  /** Even if the previous one is still running, which is why purges have leases. */
  #purge(): void {
    this.#purgeMs = (Math.floor(this.#world.clock.ms / MINUTE_MS) + 1) * MINUTE_MS;
    this.#functions.purge(() => undefined);
  }

  #audit(): void {
    this.#isAuditing = true;
    this.#auditMs = nextHour(this.#world.clock.ms);
    this.#functions['audit-ledger'](() => {
      this.#isAuditing = false;
    });
  }

  #resume(): void {
    this.#resumeMs = (Math.floor(this.#world.clock.ms / MINUTE_MS) + 1) * MINUTE_MS;
    this.#redeliveries.resume(() => undefined);
  }

  /** When a running job will have been without a message for long. */
  #nextResumeMs(): number {
    const { tables, terms } = this.#world;
    let first = Number.POSITIVE_INFINITY;
    for (const { remindedAt } of tables.runs.values())
      first = Math.min(first, Date.parse(remindedAt) + terms.graceSeconds * 1000);
    return Math.max(first, this.#resumeMs);
  }

  /** When the reconciler will find something; an empty run is not worth its steps. */
  #nextReconcileMs(): number {
    let parked: string | undefined;
    let watched: string | undefined;
    for (const { state, dueAt } of this.#world.tables.due.values()) {
      if (state === 'parked' && !(parked && parked < dueAt)) parked = dueAt;
      if (state === 'watched' && !(watched && watched < dueAt)) watched = dueAt;
    }
    const lookahead = RECONCILE_LOOKAHEAD_SECONDS * 1000;
    const first = Math.min(
      parked ? Date.parse(parked) - lookahead : Number.POSITIVE_INFINITY,
      watched ? Date.parse(watched) : Number.POSITIVE_INFINITY,
    );
    return Math.max(first, this.#reconcileMs);
  }

  /** When the purge will find something to do. */
  #nextPurgeMs(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { requestedAt, lease } of this.#world.tables.purges.values()) {
      const isSettledMs = new Date(requestedAt).getTime() + DEFAULT_LINGER_SECONDS * 1000;
      first = Math.min(first, Math.max(lease?.until ?? 0, isSettledMs));
    }
    return Math.max(first, this.#purgeMs);
  }

  /**
   * Lets time pass until something can be done.
   * @param deadFanOutsMs when the fan-out's dead letters are tried again
   * @returns false when there is nothing to wait for
   */
  #waitForNext(deadFanOutsMs = this.#world.deadFanOuts.nextMs()): boolean {
    const { processes, lanes, clock, deadMessages, rounds, shards, dispatchersStalledUntilMs } = this.#world;
    let next = Number.POSITIVE_INFINITY;
    // Possible work waits for a process that is busy.
    const at = (ms: number | undefined) => {
      if (ms !== undefined && ms > clock.ms && ms < next) next = ms;
    };
    at(this.#nextReconcileMs());
    at(this.#nextPurgeMs());
    at(deadMessages.nextMs());
    at(deadFanOutsMs);
    at(rounds.nextMs());
    at(this.#nextResumeMs());
    at(dispatchersStalledUntilMs);
    at(lanes.nextVisibleAt(clock.now())?.getTime());
    for (const { isDrained, stalledUntilMs } of shards) if (!isDrained) at(stalledUntilMs);
    for (const { readyAt } of processes.stops) at(readyAt);
    for (const { deadline } of processes.live) at(deadline);
    if (next === Number.POSITIVE_INFINITY) return false;
    clock.elapseUntil(new Date(next));
    return true;
  }

  /** Ends timed-out processes. Beyond the margin some continue although their invoker has given them up. */
  #endOverdue(): void {
    const { processes, random, faults, statistics } = this.#world;
    for (const process of processes.overdue()) {
      const isSpared = faults.beyondMargin && random.chance(0.5);
      this.#world.trace?.(`- ${process.name} ${isSpared ? 'goes on after' : 'is ended by'} its timeout`);
      statistics.count(isSpared ? 'processes beyond their time' : 'timeouts');
      if (isSpared) {
        process.deadline = Number.POSITIVE_INFINITY;
        process.whenLost();
      } else processes.lose(process);
    }
  }

  /** Moves on to the hours in which the existing deliveries are audited. */
  async #lastAudits(): Promise<void> {
    const { clock, tables, witness } = this.#world;
    const hours = [...new Set(tables.ledger.map(({ hour }) => new Date(hour).getTime()))];
    const times = hours
      .flatMap((hour) => AUDITED_AGES.map((age) => hour + age * MS_PER_HOUR))
      .toSorted((a, b) => a - b);
    for (const time of new Set(times)) {
      if (time < clock.ms || witness.violation !== undefined) continue;
      clock.elapseUntil(new Date(time + MINUTE_MS));
      this.#audit();
      await settled();
      while (this.#isAuditing) {
        const [first] = this.#readyStops();
        if (first === undefined) break;
        await this.#letOn(first, 'goes-on');
      }
    }
  }
}

const nextHour = (ms: number): number => (Math.floor(ms / MS_PER_HOUR) + 1) * MS_PER_HOUR;
