import type {
  ClaimedDelivery,
  Delivery,
  DeliveryMessage,
  DeliveryRef,
  EndpointOutcome,
  MoveResult,
  Settlement,
} from '../../functions/domain/delivery.ts';
import type { PostponeReason } from '../../functions/domain/due.ts';
import type { DeliveryId, ReceiverId } from '../../functions/domain/ids.ts';
import { deriveAttemptClocks } from '../../functions/domain/timing.ts';
import type { Due } from '../doubles/memory-deliveries.ts';
import { Attempts } from './attempts.ts';
import { STALE_MS } from './endpoint-history.ts';
import { type Entry, tenantOf } from './entries.ts';
import { FailureCounts } from './failure-counts.ts';
import { Limits } from './limits.ts';
import { faultOfMove, isOpen } from './moves.ts';
import type { Process } from './processes.ts';
import { faultOfAttempt } from './programs.ts';
import { EXPIRY_MS, type PromiseName, type Violation } from './promises.ts';
import { ResetDeletion } from './reset-deletion.ts';
import type { SandboxTables } from './sandbox-tables.ts';
import type { WorldContext } from './world-context.ts';

type World = WorldContext & { readonly sandboxTables: Pick<SandboxTables, 'all'> };

export const clocks = deriveAttemptClocks(10);

/** Receives that a delivery may need until its end: attempts, moves, leases and early ones. */
const RECEIVES_OF_A_DELIVERY = 40;
/** The same for each message that was duplicated: all copies are received at each of the delivery's times. */
const RECEIVES_OF_A_MESSAGE = 25;

/** How long a late delivery may be postponed while a queue has a long backlog (decision 9). */
const MOST_DEFERRED_MS = 6 * 3_600_000;

/** Sees every effect when it takes place, and reports the promise that it breaks. */
export class Witness {
  readonly #world: World;
  readonly attempts: Attempts;
  readonly limits: Limits;
  readonly resetDeletion: ResetDeletion;
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

  constructor(world: World) {
    this.#world = world;
    const tell = (promise: PromiseName, detail: string) => this.tell(promise, detail);
    this.attempts = new Attempts(world, tell);
    this.limits = new Limits(world, tell);
    this.resetDeletion = new ResetDeletion(world, tell);
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

  /** Runs a change of a delivery, and compares the delivery before and after. */
  watching<T>(ref: DeliveryRef, act: () => T): T {
    const { deliveries } = this.#world;
    const before = deliveries.present(ref);
    const dueBefore = deliveries.dueOf(ref);
    const result = act();
    const after = deliveries.present(ref);
    this.#world.takeStream();
    if (after === undefined) return result;
    const due = deliveries.dueOf(ref);
    const fault = this.#faultOfMove(before, after, due);
    if (fault) this.tell(fault[0], `${ref.id}: ${fault[1]}`);
    if (before !== undefined && isOpen(before) && !isOpen(after)) this.#ended(after);
    if (after.lease === undefined) this.attempts.letGo(after.id);
    if (due !== dueBefore) this.#sentBefore.set(ref.id, this.#sent.get(ref.id) ?? 0);
    if (isOpen(after) && due === undefined && this.#world.deliveryStream.isCounted(ref.id))
      this.tell('nothing lost', `${ref.id} is open, and neither in the due index nor in the stream`);
    return result;
  }

  #faultOfMove(before: Delivery | undefined, after: Delivery, due: Due | undefined) {
    if (before === after) return undefined;
    const { terms, organizations, registrations } = this.#world;
    const program = registrations.get(after.webhookId)?.program;
    const isSandbox = organizations.isSandbox(after.orgId);
    const speed = isSandbox ? (program?.speed ?? 1) : 1;
    const fault = faultOfMove(before, after, due, terms, speed);
    if (fault || before === undefined || program === undefined) return fault;
    if (after.attemptLog.length === before.attemptLog.length) return undefined;
    const detail = faultOfAttempt(program, isSandbox, before, after);
    return detail === undefined ? undefined : (['as programmed', detail] as const);
  }

  #ended(delivery: Delivery): void {
    const { id, webhookId, status, terminalReason, attempts } = delivery;
    this.attempts.ended(delivery);
    const wasDeferred = this.#deferred.delete(id);
    const lateMs = this.#world.clock.ms - this.#world.restBy;
    if (lateMs > 0 && !this.#world.organizations.isOver(delivery))
      this.tell('comes to rest', `${id} was ${status} ${lateMs} ms too late`);
    if (terminalReason === 'expired' && wasDeferred && !this.#world.organizations.isOver(delivery))
      this.tell('nothing lost', `${id} expired after its message was deferred, and before one was sent`);
    const isTrue = {
      endpoint_deleted: () => this.#world.history.endedMs(webhookId, 'deleted') !== undefined,
      endpoint_disabled: () => this.#world.history.endedMs(webhookId, 'disabled') !== undefined,
      event_missing: () => !this.#world.events.has(delivery.eventId),
      expired: () =>
        this.#world.clock.ms - this.#world.createdMs(id) >= EXPIRY_MS - this.#world.faults.maxSkewMs,
      max_attempts: () => status === 'exhausted',
      sandbox_simulated: () => status === 'succeeded',
      not_subscribed: () =>
        this.#world.history.wasUnwanted(webhookId, this.#world.events.get(delivery.eventId)),
    };
    if (terminalReason !== undefined && !isTrue[terminalReason]())
      this.tell(
        'record',
        `${id} was ${status} after ${attempts} attempts as ${terminalReason}, which is not so`,
      );
  }

  /** Runs the settlement of an attempt, or of a lost one, with its effect on the endpoint. */
  async ending(
    process: Process,
    ref: DeliveryRef,
    ended: 'succeeded' | 'exhausted' | undefined,
    outcome: EndpointOutcome,
    act: () => Promise<MoveResult>,
  ): Promise<MoveResult> {
    const { endpoint } = outcome;
    // A double takes effect before it returns.
    const answer = this.watching(ref, act);
    this.#world.history.note(endpoint.orgId, endpoint.id);
    const present = this.#world.endpoints.present(endpoint.orgId, endpoint.id);
    const result = await answer;
    const isOver = this.#world.organizations.isOver({ orgId: endpoint.orgId, generation: ref.generation });
    if (isOver && result === 'refused' && outcome.effect !== 'none')
      this.#world.statistics.count('ends of deleted data refused');
    if (result !== 'done' || ended === undefined) return result;
    if (isOver) {
      if (outcome.effect !== 'none')
        this.tell(
          'exact count',
          `${ref.id} was deleted by a reset, and its end did ${outcome.effect} to ${endpoint.id}`,
        );
      return result;
    }
    const fault = this.counts.ended(ended, outcome, process.skewMs, present);
    if (fault) this.tell('exact count', `${endpoint.id}, when ${ref.id} was ${ended}: ${fault}`);
    return result;
  }

  settling(
    process: Process,
    claimed: ClaimedDelivery,
    settlement: Settlement,
    outcome: EndpointOutcome,
    act: () => Promise<MoveResult>,
  ): Promise<MoveResult> {
    const before = this.#world.deliveries.present(claimed);
    const isUnderLease =
      before?.lease?.token === claimed.lease.token && claimed.lease.until > settlement.at.getTime();
    const ended = settlement.kind === 'retrying' ? undefined : settlement.kind;
    return this.ending(process, claimed, ended, outcome, async () => {
      const result = await act();
      if (result === 'done' && !isUnderLease)
        this.tell('lease', `attempt ${claimed.attempts} of ${claimed.id} was recorded without its lease`);
      return result;
    });
  }

  sending(reminders: readonly DeliveryMessage[], refused: readonly DeliveryMessage[]): void {
    for (const { id } of reminders) {
      if (refused.some((reminder) => reminder.id === id)) continue;
      this.#sent.set(id, (this.#sent.get(id) ?? 0) + 1);
      this.#deferred.delete(id);
      this.#receivable.set(id, (this.#receivable.get(id) ?? 0) + RECEIVES_OF_A_MESSAGE);
    }
  }

  /**
   * The reconciler postpones a delivery in the due index, because it has sent a message, or because a queue
   * has a long backlog: then it must become due again soon, and may not expire before.
   */
  postponing<T>(ref: DeliveryRef, reason: PostponeReason, act: () => T): T {
    const due = this.#world.deliveries.dueOf(ref);
    const sentBefore = this.#sentBefore.get(ref.id) ?? 0;
    const result = this.watching(ref, act);
    const after = this.#world.deliveries.dueOf(ref);
    if (after === due || after === undefined) return result;
    const isSent = (this.#sent.get(ref.id) ?? 0) > sentBefore;
    if (reason !== 'deferred') {
      if (!isSent) this.tell('nothing lost', `${ref.id} was moved on in the due index without a message`);
      return result;
    }
    if (!isSent) this.#deferred.add(ref.id);
    if (Date.parse(after.dueAt) > this.#world.clock.ms + MOST_DEFERRED_MS + this.#world.faults.maxSkewMs)
      this.tell('nothing lost', `${ref.id} was deferred until ${after.dueAt}`);
    return result;
  }

  /** The fan-out has processed an entry: deliveries that it found open have had a message. */
  fannedOut({ owed, committed }: Entry): void {
    const { deliveries, history } = this.#world;
    if (this.#world.organizations.isOver(tenantOf(owed))) return;
    const eventId = owed.kind === 'event' ? owed.event.id : owed.reminder.eventId;
    for (const { id, webhookId, eventId: of, status, redeliveryOf } of deliveries.every) {
      const isOwed =
        owed.kind === 'redelivery' ? id === owed.reminder.id : of === eventId && redeliveryOf === undefined;
      if (!isOwed || status !== 'pending' || this.#sent.has(id)) continue;
      // A delivery for an endpoint that was deleted or changed meanwhile is left to the due index.
      if (owed.kind === 'event' && !history.wanted(webhookId, owed.event, committed).every(Boolean)) continue;
      this.tell('nothing lost', `the fan-out is done with ${eventId} and has sent no message of ${id}`);
    }
  }

  /** The calm phase begins: from here on, messages come only from waits and moves. */
  calmDown(): void {
    this.#receivable.clear();
    for (const { id } of this.#world.lanes.reminders)
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
  deleted(process: Process, reminder: DeliveryMessage): void {
    // The deletion comes late, from an ended process: another process may have received the message
    // meanwhile. The due index has the delivery then.
    if (!process.alive && this.#world.deliveries.dueOf(reminder) !== undefined) return;
    const delivery = this.#world.deliveries.present(reminder);
    if (delivery === undefined || !isOpen(delivery) || delivery.parked || this.lost.has(reminder.id)) return;
    if (this.#world.organizations.isOver(delivery)) return;
    // A clock that is far behind can make the reconciler's new message look early and obsolete: the delivery
    // is late by the grace, and not lost.
    if (this.#world.faults.beyondMargin && this.#world.deliveries.dueOf(reminder) !== undefined) return;
    if (!this.#world.hasMessage(reminder.id))
      this.tell(
        'nothing lost',
        `the only message of ${reminder.id} was deleted while it is ${delivery.status}`,
      );
  }

  /** A dead letter was processed. */
  buried(reminder: DeliveryMessage): void {
    this.lost.add(reminder.id);
    const delivery = this.#world.deliveries.present(reminder);
    if (delivery !== undefined && isOpen(delivery) && this.#world.deliveries.dueOf(reminder) === undefined)
      this.tell(
        'nothing lost',
        `nothing watches ${reminder.id} after its message moved to the dead-letter queue`,
      );
  }

  /** An attempt reaches its receiver. */
  attemptStarts(process: Process, claimed: ClaimedDelivery, webhookId: ReceiverId): void {
    this.attempts.starts(process, claimed, this.limits.isLimited(webhookId));
    this.limits.attemptStarts(claimed);
    for (const end of ['deleted', 'disabled'] as const) {
      const endedMs = this.#world.history.endedMs(webhookId, end);
      if (endedMs === undefined) continue;
      const sinceMs = this.#world.clock.ms - endedMs;
      const isLate = !this.#world.faults.beyondMargin && sinceMs > clocks.functionTimeout * 1000 + STALE_MS;
      if (isLate || endedMs < this.#world.readMs(process) - STALE_MS)
        this.tell(
          'nothing after the end of an endpoint',
          `attempt ${claimed.attempts} of ${claimed.id} started ${sinceMs} ms after ${webhookId} was ${end}`,
        );
    }
  }
}
