import type { DeliveryId, EventId } from '../../functions/aws/ids.ts';
import type { Delivery } from '../../functions/delivery/delivery.ts';
import { isFirstDelivery, isFromJob } from '../../functions/delivery/redelivery.ts';
import type { OutboxEvent } from '../../functions/events/events.ts';
import type { RedeliveryJob } from '../../functions/redelivery/jobs.ts';
import type { Row } from '../doubles/tables/expressions.ts';
import type { Limits } from './limits.ts';
import { isOpen } from './moves.ts';
import type { Process } from './processes.ts';
import { EXPIRY_MS, PAUSE_ECHO_MS, type PromiseName } from './promises.ts';
import type { WorldContext } from './world-context.ts';

/** Seconds' worth of deliveries that may wait at an endpoint with a limit. */
const SECONDS_OF_LIMIT = 2;

/** A job as it was started. */
interface Started {
  job: RedeliveryJob;
  ms: number;
  /** Beginning of the pause that it follows. */
  pausedMs: number | undefined;
  /** Its position in the order of changes of endpoints. */
  order: number;
  /** Events that were committed before it. */
  events: ReadonlySet<EventId>;
  /** What it made, by event. */
  made: Map<string, DeliveryId>;
  /** How much it made after its stop was committed; undefined while it runs. */
  madeStopped: number | undefined;
}

/** Observations of redelivery jobs (docs/specification.md, Recovery). */
export class Jobs {
  readonly #world: WorldContext;
  readonly #limits: Limits;
  readonly #tell: (promise: PromiseName, detail: string) => void;
  readonly #started = new Map<string, Started>();
  /** When the end of each delivery was written, which is later than the time in it. */
  readonly #endedMs = new Map<DeliveryId, number>();
  /** The job of each round. */
  readonly #rounds = new Map<Process, string>();

  constructor(world: WorldContext, limits: Limits, tell: (promise: PromiseName, detail: string) => void) {
    this.#world = world;
    this.#limits = limits;
    this.#tell = tell;
  }

  /** @param pausedMs beginning of the pause that it follows */
  started(job: RedeliveryJob, pausedMs?: number): void {
    const { clock, history, events } = this.#world;
    this.#started.set(job.id, {
      job,
      ms: clock.ms,
      pausedMs,
      order: history.order,
      events: new Set(events.keys()),
      made: new Map(),
      madeStopped: undefined,
    });
  }

  ended({ id }: Delivery): void {
    this.#endedMs.set(id, this.#world.clock.ms);
  }

  /** A process begins a round. */
  begins(process: Process, id: string): void {
    this.#rounds.set(process, id);
  }

  /** A process has added a delivery. */
  added(process: Process, delivery: Delivery): void {
    const { id, eventId } = delivery;
    const started = this.#started.get(this.#rounds.get(process) ?? '');
    if (started === undefined) return;
    const { job, made } = started;
    if (job.dryRun === true) this.#tell('whole job', `${job.id} only counts, and has made ${id}`);
    if (!isFromJob(delivery)) return;
    const other = made.get(eventId);
    const earlier = other === undefined ? undefined : this.#world.tables.deliveries.get(other);
    // One that failed is made again when another worker repeats a page to which late events were added.
    if (earlier !== undefined && isOpen(earlier))
      this.#tell('whole job', `${job.id} has made ${other} and ${id} of ${eventId}`);
    made.set(eventId, id);
    if (!this.#world.faults.beyondMargin) this.#checkWindow(process, started);
  }

  /** Few deliveries of a job wait for their first attempts at a time; a stopped one makes no more. */
  #checkWindow(process: Process, started: Started): void {
    const { tables, terms } = this.#world;
    const { job } = started;
    const limit = this.#limits.loosest(job.webhookId, process);
    const most = Math.min(terms.window, SECONDS_OF_LIMIT * limit);
    // One whose event is not for the endpoint any more ends without an attempt.
    const waiting = this.#wanted(started).filter((id) => {
      const { status, attempts } = tables.deliveries.get(id) ?? {};
      return status === 'pending' && attempts === 0;
    });
    if (waiting.length > most)
      this.#tell('window', `${waiting.length} deliveries of ${job.id} wait for their first attempts`);
    if (started.madeStopped === undefined) return;
    started.madeStopped += 1;
    if (started.madeStopped > most)
      this.#tell('window', `${job.id} has made ${started.madeStopped} deliveries after it was stopped`);
  }

  /** What a job has made of events that were for the endpoint all the time. */
  #wanted({ job, made, order }: Started): DeliveryId[] {
    const { events, history } = this.#world;
    return [...made].flatMap(([eventId, id]) => {
      const event = events.get(eventId as EventId);
      return event && history.wanted(job.webhookId, event, order).every(Boolean) ? [id] : [];
    });
  }

  /** A job has ended. */
  written(before: Row | undefined, after: Row | undefined): void {
    const started = this.#started.get(String(after?.id));
    if (started !== undefined && before?.status === 'running' && after?.status === 'stopped')
      started.madeStopped ??= 0;
  }

  /** What is wrong with the jobs of a world at rest. */
  *faults(): Generator<[PromiseName, string]> {
    const { tables, organizations, statistics } = this.#world;
    for (const row of tables.memory.all('service')) {
      if (String(row.pk).startsWith('redelivery-runs#'))
        yield ['comes to rest', `no job can follow ${row.id}`];
      const started = this.#started.get(String(row.id));
      if (started === undefined || !String(row.pk).endsWith('#redeliveries')) continue;
      const job = row as unknown as RedeliveryJob;
      statistics.count(
        `jobs: ${[job.what, job.dryRun && 'dry', job.status, job.reason].filter(Boolean).join(' ')}`,
      );
      if (organizations.isOver(job)) continue;
      if (job.status === 'running') yield ['comes to rest', `${job.id} is still running`];
      if (job.dryRun === true) continue;
      yield* this.#miscounts(job, started);
      if (job.status === 'done') yield* this.#gaps(job, started);
    }
  }

  *#miscounts(job: RedeliveryJob, started: Started): Generator<[PromiseName, string]> {
    // A lost worker's page is not counted where another passes over it, and a page that is read again not
    // what the endpoint does not want any more.
    const rounds = [...this.#rounds].filter(([, id]) => id === job.id);
    const isExact = !this.#world.faults.beyondMargin && rounds.every(([{ isDisturbed }]) => !isDisturbed);
    const made = started.made.size;
    const lacking = this.#counted(job, started) - job.redelivered;
    if (made < job.redelivered || (isExact && lacking > 0))
      yield ['whole job', `${job.id} counts ${job.redelivered} redeliveries and has made ${made}`];
  }

  /** How much of what a job has made is not beyond its position, which passes nothing that waits. */
  #counted({ what, place = '' }: RedeliveryJob, started: Started): number {
    const { deliveries } = this.#world.tables;
    return this.#wanted(started).filter((id) => {
      const { eventId, redeliveryOf } = deliveries.get(id) ?? {};
      const examined = what === 'missing' ? eventId : redeliveryOf;
      return examined !== undefined && examined <= place;
    }).length;
  }

  /** Events that a job should have resent. */
  *#gaps(
    job: RedeliveryJob,
    { ms: startedMs, pausedMs, order, events: before }: Started,
  ): Generator<[PromiseName, string]> {
    const { tables, history, createdMs, events } = this.#world;
    const [fromMs, toMs] = [Date.parse(job.from), Date.parse(job.to)];
    const isInRange = (id: Delivery['id'] | OutboxEvent['id']) =>
      createdMs(id) >= fromMs && createdMs(id) < toMs;
    const own = [...tables.deliveries.values()].filter(
      ({ webhookId, generation }) => webhookId === job.webhookId && generation === job.generation,
    );
    const isEarlier = ({ id }: Delivery) => (this.#endedMs.get(id) ?? startedMs) < startedMs;
    /** Skipped by the pause that the job follows, also by a worker that saw it shortly before its end. */
    const isOfPause = ({ id, terminalReason }: Delivery) => {
      const endedMs = this.#endedMs.get(id) ?? startedMs;
      const isInPause = endedMs >= Number(pausedMs) && endedMs < startedMs + PAUSE_ECHO_MS;
      // Older ones would have expired.
      const isYoung = createdMs(id) >= Number(pausedMs) - EXPIRY_MS;
      return terminalReason === 'endpoint_paused' && isInPause && isYoung;
    };
    const isWanted = (event: OutboxEvent) => history.wanted(job.webhookId, event, order).every(Boolean);
    for (const event of events.values()) {
      if (event.generation !== job.generation || !isWanted(event)) continue;
      const ofIt = own.filter(({ eventId }) => eventId === event.id);
      const hasArrived = ofIt.some(
        (delivery) => delivery.status === 'succeeded' || !isFirstDelivery(delivery),
      );
      if (hasArrived || ofIt.some(isOpen)) continue;
      const isAsked =
        job.what === 'missing'
          ? // What is committed later is the fan-out's.
            isInRange(event.id) && before.has(event.id) && ofIt.every(isEarlier)
          : pausedMs === undefined
            ? ofIt.some((one) => isInRange(one.id) && isEarlier(one))
            : !this.#world.faults.beyondMargin && ofIt.some(isOfPause);
      if (isAsked) yield ['whole job', `${job.id} has not resent ${event.id}`];
    }
  }
}
