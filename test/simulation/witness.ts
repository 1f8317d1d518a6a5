import type { DeliveryId } from '../../functions/aws/ids.ts';
import type { ClaimedDelivery, Delivery, DeliveryMessage } from '../../functions/delivery/delivery.ts';
import { isFirstDelivery } from '../../functions/delivery/redelivery.ts';
import { deriveAttemptClocks } from '../../functions/delivery/timing.ts';
import type { Row } from '../doubles/tables/expressions.ts';
import type { Written } from '../doubles/tables/memory-tables.ts';
import { Attempts } from './attempts.ts';
import { STALE_MS } from './endpoint-history.ts';
import { type Entry, tenantOf } from './entries.ts';
import { FailureCounts } from './failure-counts.ts';
import { Jobs } from './jobs.ts';
import { Limits } from './limits.ts';
import { faultOfMove, isOpen } from './moves.ts';
import type { Process } from './processes.ts';
import { faultOfAttempt } from './programs.ts';
import { EXPIRY_MS, type PromiseName, type Violation } from './promises.ts';
import { ResetDeletion } from './reset-deletion.ts';
import { type Due, dueOf } from './tables.ts';
import { Turns } from './turns.ts';
import type { WorldContext } from './world-context.ts';

export const clocks = deriveAttemptClocks(10);

/** Receives that a delivery may need until its end: attempts, moves, leases and early ones. */
const RECEIVES_OF_A_DELIVERY = 40;
/** The same for each message that was duplicated: all copies are received at each of the delivery's times. */
const RECEIVES_OF_A_MESSAGE = 25;

/** How long a late delivery may be postponed while a queue has a long backlog (decision 9). */
const MOST_DEFERRED_MS = 6 * 3_600_000;

/** Sees every effect when it takes place, and reports the promise that it breaks. */
export class Witness {
  readonly #world: WorldContext;
  readonly attempts: Attempts;
  readonly limits: Limits;
  readonly jobs: Jobs;
  readonly resetDeletion: ResetDeletion;
  readonly turns: Turns;
  readonly counts = new FailureCounts();
  #violation: Violation | undefined;
  /** Deliveries one of whose messages was lost by a queue or moved to the dead-letter queue. */
  readonly lost = new Set<DeliveryId>();
  readonly #sent = new Map<DeliveryId, number>();
  /** The number of messages so far when the delivery was added to the due index, or moved within it. */
  readonly #sentBefore = new Map<DeliveryId, number>();
  /** Deliveries whose message was deferred, and not sent since. */
  readonly #deferred = new Set<DeliveryId>();
  readonly #received = new Map<DeliveryId, number>();
  /** Receives of a delivery in the calm phase from which on it counts as a loop. */
  readonly #receivable = new Map<DeliveryId, number>();

  constructor(world: WorldContext) {
    this.#world = world;
    const tell = (promise: PromiseName, detail: string) => this.tell(promise, detail);
    this.attempts = new Attempts(world, tell);
    this.limits = new Limits(world, tell);
    this.jobs = new Jobs(world, this.limits, tell);
    this.resetDeletion = new ResetDeletion(world, tell);
    this.turns = new Turns(world, tell);
  }

  /** Whether an open delivery's message was deferred, and not sent since. */
  get isDeferring(): boolean {
    return this.#deferred.size > 0;
  }

  /** The first broken promise. */
  get violation(): Violation | undefined {
    return this.#violation;
  }

  tell(promise: PromiseName, detail: string): void {
    this.#violation ??= { promise, detail: this.#world.named(detail) };
  }

  /** What one request has written, all at once. Requests of the API have no actor. */
  written(actor: Process | undefined, writes: readonly Written[]): void {
    for (const write of writes) {
      const { table, before, after } = write;
      this.turns.written(actor, write);
      this.resetDeletion.written(actor, table, before, after);
      if (table === 'service') this.jobs.written(before, after);
      if (table === 'deliveries' && after !== undefined)
        this.#moved(actor, before as Delivery | undefined, after as unknown as Delivery, writes);
    }
  }

  /** Compares a delivery before and after a request. */
  #moved(
    actor: Process | undefined,
    before: Delivery | undefined,
    after: Delivery,
    writes: readonly Written[],
  ): void {
    const { tables, deliveryStream } = this.#world;
    const { id } = after;
    const [dueBefore, due] = [dueOf(before as Row | undefined), dueOf(after as unknown as Row)];
    this.limits.written(before, after);
    if (actor !== undefined) this.#checkActor(actor, before, after);
    const fault = this.#faultOfMove(before, after, due);
    // Where a clock stepped, an attempt does not take what it says.
    const isExcused = fault?.[0] === 'not before its time' && actor?.hasStepped === true;
    if (fault && !isExcused) this.tell(fault[0], `${id}: ${fault[1]}`);
    if (before !== undefined) this.#checkRecord(before, after);
    else if (!isOpen(after)) this.jobs.ended(after);
    if (before !== undefined && isOpen(before) && !isOpen(after)) {
      this.#ended(after);
      if (actor !== undefined) this.#counted(actor, after, writes);
    }
    if (after.lease === undefined) this.attempts.letGo(id);
    const isMoved = due?.dueAt !== dueBefore?.dueAt || due?.state !== dueBefore?.state;
    if (isMoved && actor?.kind === 'reconcile' && due !== undefined) this.#postponed(after, due);
    if (isMoved) this.#sentBefore.set(id, this.#sent.get(id) ?? 0);
    if (isOpen(after) && due === undefined && deliveryStream.isCounted(id) && tables.deliveries.has(id))
      this.tell('nothing lost', `${id} is open, and neither in the due index nor in the stream`);
  }

  /** What a process may do to a delivery, before the delivery is as it is now. */
  #checkActor(actor: Process, before: Delivery | undefined, after: Delivery): void {
    if (before === undefined) {
      this.resetDeletion.writes(actor, 'adds a delivery', after);
      this.jobs.added(actor, after);
    }
    if (before === undefined || actor.kind !== 'dispatch') return;
    const isClaimed = after.lease !== undefined && after.lease.token !== before.lease?.token;
    if (isClaimed) {
      this.resetDeletion.moves(actor, 'claims', before);
      this.attempts.claimed(actor, before, after as ClaimedDelivery);
    } else if (after.attemptLog.length === before.attemptLog.length)
      this.resetDeletion.moves(actor, isOpen(after) ? 'parks' : 'ends', before);
  }

  /** An attempt is recorded under the lease that it was started under, before that ended. */
  #checkRecord({ lease, attemptLog }: Delivery, { id, attemptLog: log, terminalAt }: Delivery): void {
    const last = log.at(-1);
    if (last === undefined || log.length === attemptLog.length) return;
    const answeredMs = this.attempts.answeredMs(id, last.number);
    const atMs = terminalAt === undefined ? answeredMs : Date.parse(terminalAt);
    const isUnderLease =
      lease !== undefined && lease.token === this.attempts.tokenOf(id, last.number) && lease.until > atMs;
    if (!isUnderLease) this.tell('lease', `attempt ${last.number} of ${id} was recorded without its lease`);
  }

  #faultOfMove(before: Delivery | undefined, after: Delivery, due: Due | undefined) {
    const { terms, organizations, registrations } = this.#world;
    const program = registrations.get(after.webhookId)?.program;
    const isSandbox = organizations.isSandbox(after.orgId);
    const speed = isSandbox ? (program?.speed ?? 1) : 1;
    const heldMs = this.attempts.heldMs(after.id, after.attemptLog.at(-1)?.number ?? 0);
    const fault = faultOfMove(before, after, due, { ...terms, heldMs }, speed);
    if (fault || before === undefined || program === undefined) return fault;
    if (after.attemptLog.length === before.attemptLog.length) return undefined;
    const detail = faultOfAttempt(program, isSandbox, after);
    return detail === undefined ? undefined : (['as programmed', detail] as const);
  }

  #ended(delivery: Delivery): void {
    const { id, webhookId, status, terminalReason, attempts } = delivery;
    this.attempts.ended(delivery);
    this.jobs.ended(delivery);
    const wasDeferred = this.#deferred.delete(id);
    const lateMs =
      this.#world.clock.ms - this.#world.restByOf(delivery) - this.limits.longestClockWaitMs(webhookId);
    if (lateMs > 0 && !this.#world.organizations.isOver(delivery))
      this.tell('comes to rest', `${id} was ${status} ${lateMs} ms too late`);
    if (terminalReason === 'expired' && wasDeferred && !this.#world.organizations.isOver(delivery))
      this.tell('nothing lost', `${id} expired after its message was deferred, and before one was sent`);
    const isTrue = {
      endpoint_deleted: () => this.#world.history.hasEnded(webhookId, 'deleted'),
      endpoint_disabled: () => this.#world.history.hasEnded(webhookId, 'disabled'),
      endpoint_paused: () => this.#world.history.hasEnded(webhookId, 'paused'),
      // Nothing erases a conversation here.
      erased: () => false,
      event_missing: () => !this.#world.events.has(delivery.eventId),
      expired: () =>
        this.#world.clock.ms - this.#world.createdMs(id) >= EXPIRY_MS - this.#world.faults.maxSkewMs,
      max_attempts: () => status === 'exhausted',
      sandbox_simulated: () => status === 'succeeded',
      not_subscribed: () => this.#wasUnwanted(delivery),
    };
    if (terminalReason !== undefined && !isTrue[terminalReason]())
      this.tell(
        'record',
        `${id} was ${status} after ${attempts} attempts as ${terminalReason}, which is not so`,
      );
  }

  /** Whether the endpoint was at some time not one that the event is for, also when that is lost since. */
  #wasUnwanted({ webhookId, eventId }: Delivery): boolean {
    const owed = this.#world.entries.get(eventId)?.owed;
    return owed?.kind === 'event' && this.#world.history.wasUnwanted(webhookId, owed.event);
  }

  /** The effect of a delivery's end on its endpoint, which is in the same request. */
  #counted(
    actor: Process,
    { id, orgId, generation, webhookId, status, attemptLog }: Delivery,
    writes: readonly Written[],
  ): void {
    if (status !== 'succeeded' && status !== 'exhausted') return;
    const isChanged = writes.some(({ table, after }) => table === 'service' && after?.id === webhookId);
    if (this.#world.organizations.isOver({ orgId, generation })) {
      if (isChanged)
        this.tell('exact count', `${id} was deleted by a reset, and its end changed ${webhookId}`);
      return;
    }
    const present = this.#world.tables.endpoints.get(webhookId);
    const fromMs = this.attempts.endedMs(id, attemptLog.at(-1)?.number ?? 0) ?? actor.invokedMs;
    const end = { status, isChanged, fromMs, nowMs: this.#world.clock.ms };
    const fault = this.counts.ended(webhookId, end, present);
    if (fault) this.tell('exact count', `${webhookId}, when ${id} was ${status}: ${fault}`);
  }

  sending(deliveryMessages: readonly DeliveryMessage[], refused: readonly DeliveryMessage[]): void {
    for (const { id } of deliveryMessages) {
      if (refused.some((deliveryMessage) => deliveryMessage.id === id)) continue;
      this.#sent.set(id, (this.#sent.get(id) ?? 0) + 1);
      this.#deferred.delete(id);
      this.#receivable.set(id, (this.#receivable.get(id) ?? 0) + RECEIVES_OF_A_MESSAGE);
    }
  }

  /**
   * The reconciler has moved a delivery in the due index, because it has sent a message, or because a queue
   * has a long backlog: then it must become due again soon, and may not expire before.
   */
  #postponed(after: Delivery, { dueAt }: Due): void {
    const isSent = (this.#sent.get(after.id) ?? 0) > (this.#sentBefore.get(after.id) ?? 0);
    if ((after as { isDeferred?: true }).isDeferred !== true) {
      if (!isSent) this.tell('nothing lost', `${after.id} was moved on in the due index without a message`);
      return;
    }
    if (!isSent) this.#deferred.add(after.id);
    if (Date.parse(dueAt) > this.#world.clock.ms + MOST_DEFERRED_MS + this.#world.faults.maxSkewMs)
      this.tell('nothing lost', `${after.id} was deferred until ${dueAt}`);
  }

  /** The fan-out has processed an entry: deliveries that it found open have had a message. */
  fannedOut({ owed, committed }: Entry): void {
    const { tables, history } = this.#world;
    if (this.#world.organizations.isOver(tenantOf(owed))) return;
    const eventId = owed.kind === 'event' ? owed.event.id : owed.deliveryMessage.eventId;
    for (const delivery of tables.deliveries.values()) {
      const { id, webhookId, eventId: of, status } = delivery;
      const isOwed =
        owed.kind === 'redelivery'
          ? id === owed.deliveryMessage.id
          : of === eventId && isFirstDelivery(delivery);
      if (!isOwed || status !== 'pending' || this.#sent.has(id)) continue;
      // A delivery for an endpoint that was deleted or changed meanwhile is left to the due index.
      if (owed.kind === 'event' && !history.wanted(webhookId, owed.event, committed).every(Boolean)) continue;
      this.tell('nothing lost', `the fan-out is done with ${eventId} and has sent no message of ${id}`);
    }
  }

  /** The calm phase begins: from here on, messages come only from waits and moves. */
  calmDown(): void {
    this.#receivable.clear();
    for (const { id } of this.#world.lanes.deliveryMessages)
      this.#receivable.set(id, (this.#receivable.get(id) ?? 0) + RECEIVES_OF_A_MESSAGE);
  }

  receiving(id: DeliveryId): void {
    if (!this.#world.isUntroubled) return;
    const times = (this.#received.get(id) ?? 0) + 1;
    this.#received.set(id, times);
    if (times > RECEIVES_OF_A_DELIVERY + (this.#receivable.get(id) ?? 0))
      this.tell('comes to rest', `messages of ${id} were received ${times} times`);
  }

  /** A message was deleted because its function was done with it. */
  deleted(process: Process, deliveryMessage: DeliveryMessage): void {
    // The deletion comes late, from an ended process: another process may have received the message
    // meanwhile. The due index has the delivery then.
    if (!process.alive && this.#world.tables.due.has(deliveryMessage.id)) return;
    const delivery = this.#world.tables.deliveries.get(deliveryMessage.id);
    if (delivery === undefined || !isOpen(delivery) || delivery.parked || this.lost.has(deliveryMessage.id))
      return;
    if (this.#world.organizations.isOver(delivery)) return;
    // A clock that is far behind can make the reconciler's new message look early and obsolete: the delivery
    // is late by the grace, and not lost.
    if (this.#world.faults.beyondMargin && this.#world.tables.due.has(deliveryMessage.id)) return;
    if (!this.#world.hasMessage(deliveryMessage.id))
      this.tell(
        'nothing lost',
        `the only message of ${deliveryMessage.id} was deleted while it is ${delivery.status}`,
      );
  }

  /** A dead letter was processed. */
  buried(deliveryMessage: DeliveryMessage): void {
    this.lost.add(deliveryMessage.id);
    const delivery = this.#world.tables.deliveries.get(deliveryMessage.id);
    if (delivery !== undefined && isOpen(delivery) && !this.#world.tables.due.has(deliveryMessage.id))
      this.tell(
        'nothing lost',
        `nothing watches ${deliveryMessage.id} after its message moved to the dead-letter queue`,
      );
  }

  /** An attempt reaches its receiver. */
  attemptStarts(process: Process, claimed: ClaimedDelivery, url: string): void {
    const { id, webhookId, eventId, attempts } = claimed;
    this.attempts.starts(process, claimed, this.limits.isLimited(webhookId));
    this.limits.attemptStarts(process, claimed);
    const owed = this.#world.entries.get(eventId)?.owed;
    const event = owed?.kind === 'event' ? owed.event : undefined;
    if (!this.#world.history.wasAt(url, webhookId, event, process.invokedMs - STALE_MS))
      this.tell('as its endpoint says', `attempt ${attempts} of ${id} for ${webhookId} was sent to ${url}`);
  }
}
