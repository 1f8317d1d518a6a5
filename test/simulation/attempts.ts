import type { DeliveryId, OrgId } from '../../functions/aws/ids.ts';
import type { ClaimedDelivery, Delivery, DeliveryMessage } from '../../functions/delivery/delivery.ts';
import type { Lane } from '../../functions/delivery/lanes.ts';
import type { Process } from './processes.ts';
import type { PromiseName } from './promises.ts';
import type { WorldContext } from './world-context.ts';

/**
 * How late an attempt may be in a calm phase: the reconciler runs once a minute, and a full batch takes time.
 */
const CALM_LATENESS_MS = 90_000;
/** Deliveries of one organization that a batch of the fresh or retry queue works on at a time. */
const SHARE = 4;

/** Observations of a delivery's attempts, at the claim and at the receiver. */
export class Attempts {
  readonly #world: WorldContext;
  readonly #tell: (promise: PromiseName, detail: string) => void;
  readonly #started = new Map<DeliveryId, number[]>();
  /** The lease that each attempt was started under. */
  readonly #tokens = new Map<string, string>();
  /** When each attempt got its result, by the clock of its process at that moment. */
  readonly #answeredMs = new Map<string, number>();
  /** The same by the true time. */
  readonly #endedMs = new Map<string, number>();
  readonly #accepted = new Map<DeliveryId, number[]>();
  /** Processes that have a message of the delivery. */
  readonly #processing = new Map<Process, Map<DeliveryId, number>>();
  /** Attempts in progress that started in the calm phase, by their processes. */
  readonly #unrecorded = new Map<Process, Map<DeliveryId, number>>();
  readonly #atOnce = new Map<Process, Map<OrgId, number>>();
  readonly #holders = new Map<DeliveryId, Process>();
  /** When the next attempt is due, according to the claim of an attempt. */
  readonly #dueMs = new Map<string, number>();

  /** For how long receivers have asked to wait, after each attempt. */
  readonly #heldMs = new Map<string, number>();
  /** When a customer asked for the next attempt, and how many were recorded then. */
  readonly #asked = new Map<DeliveryId, { ms: number; recorded: number }>();

  constructor(world: WorldContext, tell: (promise: PromiseName, detail: string) => void) {
    this.#world = world;
    this.#tell = tell;
  }

  /** Requests that receivers got after they had accepted the delivery once. */
  get duplicates(): number {
    return [...this.#accepted.values()].reduce((sum, { length }) => sum + length - 1, 0);
  }

  held({ id, attempts }: ClaimedDelivery, ms: number): void {
    this.#heldMs.set(`${id}#${attempts}`, ms);
  }

  heldMs(id: DeliveryId, number: number): number {
    return this.#heldMs.get(`${id}#${number}`) ?? 0;
  }

  startsOf(id: DeliveryId): readonly number[] {
    return this.#started.get(id) ?? [];
  }

  /** A customer asks for the next attempt at once. */
  asked({ id, attemptLog }: Delivery): void {
    this.#asked.set(id, { ms: this.#world.clock.ms, recorded: attemptLog.length });
  }

  /** @param before the delivery as it was before the claim */
  claimed(process: Process, before: Delivery | undefined, { id, attempts, lease }: ClaimedDelivery): void {
    const holder = this.#holders.get(id);
    const { beyondMargin, maxSkewMs } = this.#world.faults;
    if (!beyondMargin && holder?.alive)
      this.#tell(
        'one holder',
        `${process.name} claimed ${id} for attempt ${attempts} while ${holder.name} has it`,
      );
    this.#holders.set(id, process);
    const dueMs = new Date(before?.nextRetryAt ?? before?.createdAt ?? 0).getTime();
    this.#dueMs.set(lease.token, dueMs);
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    const isAsked = asked !== undefined && before?.attemptLog.length === asked.recorded;
    if (isAsked && before?.turn === undefined && dueMs > asked.ms)
      this.#tell('comes to rest', `attempt ${attempts} of ${id} was to be made at once, and was due later`);
    if (this.#world.clock.ms < dueMs - 2 * maxSkewMs)
      this.#tell('not before its time', `attempt ${attempts} of ${id} was claimed before it was due`);
  }

  /** Whether the last worker was lost and left the delivery unchanged. */
  isOrphaned(id: DeliveryId): boolean {
    return this.#holders.get(id)?.alive === false;
  }

  /** The token of the lease that an attempt was started under. */
  tokenOf(id: DeliveryId, number: number): string | undefined {
    return this.#tokens.get(`${id}#${number}`);
  }

  /** The delivery has no holder any more. */
  letGo(id: DeliveryId): void {
    this.#holders.delete(id);
  }

  /** A process begins to process a message; it may have others of the same delivery. */
  processing(process: Process, { id, orgId }: DeliveryMessage, lane: Lane): void {
    const own = this.#processing.get(process) ?? new Map<DeliveryId, number>();
    this.#processing.set(process, own.set(id, (own.get(id) ?? 0) + 1));
    const atOnce = this.#count(process, orgId, 1);
    if (atOnce > SHARE && (lane === 'fresh' || lane === 'retry'))
      this.#tell('fair shares', `${process.name} has ${atOnce} deliveries of ${orgId} from ${lane} at once`);
  }

  /** Counts the deliveries of an organization that a process is working on, waits for turns included. */
  #count(process: Process, orgId: OrgId, change: 1 | -1): number {
    const own = this.#atOnce.get(process) ?? new Map<OrgId, number>();
    const count = (own.get(orgId) ?? 0) + change;
    this.#atOnce.set(process, own.set(orgId, count));
    return count;
  }

  /**
   * A process is done with a message.
   * @param failed whether it reported the message as failed
   */
  processed(process: Process, deliveryMessage: DeliveryMessage, failed: boolean): void {
    const { id, orgId } = deliveryMessage;
    this.#count(process, orgId, -1);
    const left = (this.#processing.get(process)?.get(id) ?? 1) - 1;
    this.#processing.get(process)?.set(id, left);
    if (left > 0) return;
    if (this.#holders.get(id) === process) this.#holders.delete(id);
    const number = this.#unrecorded.get(process)?.get(id);
    this.#unrecorded.get(process)?.delete(id);
    if (number === undefined || failed || this.#world.faults.beyondMargin) return;
    if (this.#world.organizations.isOver(deliveryMessage)) return;
    const log = this.#world.tables.deliveries.get(id)?.attemptLog ?? [];
    if (!log.some((attempt) => attempt.number === number))
      this.#tell('record', `attempt ${number} of ${id} was made and not recorded`);
  }

  /**
   * A request is sent.
   * @param isLimited whether the delivery may have waited for its turn
   */
  starts(process: Process, { id, attempts: number, lease }: ClaimedDelivery, isLimited: boolean): void {
    const started = this.#started.get(id) ?? [];
    if (started.includes(number))
      this.#tell('eight attempts', `attempt ${number} of ${id} was started twice`);
    this.#started.set(id, [...started, number]);
    this.#tokens.set(`${id}#${number}`, lease.token);
    if (this.#world.isUntroubled) {
      const own = this.#unrecorded.get(process) ?? new Map<DeliveryId, number>();
      this.#unrecorded.set(process, own.set(id, number));
    }
    const most = this.#world.terms.attempts;
    if (number > most || started.length >= most)
      this.#tell('eight attempts', `attempt ${number} of ${id} is the ${started.length + 1}th to be started`);
    const lateMs = this.#world.clock.ms - (this.#dueMs.get(lease.token) ?? 0);
    if (this.#world.faults.isCalm && lateMs > CALM_LATENESS_MS && !isLimited)
      this.#tell('comes to rest', `attempt ${number} of ${id} was ${lateMs} ms late by ${process.name}`);
  }

  /** An attempt has its result, an error included. */
  answered(process: Process, { id, attempts: number }: ClaimedDelivery): void {
    this.#answeredMs.set(`${id}#${number}`, this.#world.clock.ms + process.skewMs);
    this.#endedMs.set(`${id}#${number}`, this.#world.clock.ms);
  }

  /** By the clock of its process, which may have stepped during the attempt; infinite without a result. */
  answeredMs(id: DeliveryId, number: number): number {
    return this.#answeredMs.get(`${id}#${number}`) ?? Number.POSITIVE_INFINITY;
  }

  /** True time of an attempt's end; undefined without a result. */
  endedMs(id: DeliveryId, number: number): number | undefined {
    return this.#endedMs.get(`${id}#${number}`);
  }

  accepted({ id, attempts: number }: ClaimedDelivery): void {
    this.#accepted.set(id, [...(this.#accepted.get(id) ?? []), number]);
  }

  /** Compares the recorded attempts of a delivery with the observed ones. */
  ended({ id, status, attempts, attemptLog }: Delivery): void {
    const started = this.startsOf(id);
    if (started.length > attempts)
      this.#tell('record', `${id} counts ${attempts} attempts where ${started.length} were started`);
    const unknown = attemptLog.find(
      ({ number, error }) => error === undefined && !this.#accepted.get(id)?.includes(number),
    );
    if (unknown)
      this.#tell('record', `attempt ${unknown.number} of ${id} succeeded although no receiver accepted it`);
    if (attemptLog.some(({ number }) => !started.includes(number)))
      this.#tell('record', `${id} has recorded an attempt that was never started`);
    if (status === 'succeeded' && attemptLog.at(-1)?.error !== undefined)
      this.#tell('record', `${id} succeeded by no attempt`);
  }
}
