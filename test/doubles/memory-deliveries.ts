import { withTrace } from '../../functions/aws/ids.ts';
import type { AttemptPorts } from '../../functions/delivery/attempt.ts';
import {
  type ClaimedDelivery,
  type ClaimResult,
  type Delivery,
  type DeliveryRef,
  getClaimability,
  type MoveResult,
  OPEN_STATUSES,
  type Settlement,
  type SkipReason,
} from '../../functions/delivery/delivery.ts';
import type { KeptTurn } from '../../functions/delivery/delivery-rows.ts';
import type { TurnPorts } from '../../functions/delivery/endpoint-turns.ts';
import type { FanOutPorts } from '../../functions/delivery/fan-out.ts';
import { isFirstDelivery } from '../../functions/delivery/redelivery.ts';
import { DEFAULT_GRACE_SECONDS } from '../../functions/delivery/timing.ts';
import { createReceiverNotice, type Notice } from '../../functions/events/bus.ts';
import type { AttemptError } from '../../functions/receivers/attempt-error.ts';
import type { EndpointOutcome } from '../../functions/receivers/endpoint.ts';
import { type AuditEntry, createStatusEntry } from '../../functions/tenancy/audit.ts';
import type { DueState } from '../../functions/tenancy/keys.ts';
import { isSandbox } from '../../functions/tenancy/tenant.ts';
import type { MemoryEndpoints } from './memory-endpoints.ts';
import type { MemoryOrganizationStates } from './memory-organization-states.ts';

type DeliveryPorts = AttemptPorts['deliveries'] & FanOutPorts['deliveries'] & TurnPorts['deliveries'];

/** A delivery's entry in the due index. */
export interface Due {
  state: DueState;
  dueAt: string;
  isDeferred?: true;
}

/** A change as the table's stream has it. */
export interface RowChange {
  kind: 'added' | 'ended';
  delivery: Delivery;
}

interface Row {
  delivery: Delivery;
  due: Due | undefined;
}

/**
 * Deliveries in memory. Every change takes effect when it is called, like a conditional write, and only its
 * answer is asynchronous; the effect on the endpoint is part of it.
 */
export class MemoryDeliveries implements DeliveryPorts {
  readonly #endpoints: MemoryEndpoints;
  readonly #graceSeconds: number;
  readonly #states: Pick<MemoryOrganizationStates, 'present'> | undefined;
  readonly #rows = new Map<string, Row>();
  #claims = 0;
  /** Additions and ends in order. */
  readonly stream: RowChange[] = [];
  /** The notices that were committed when endpoints were disabled. */
  readonly notices: Notice[] = [];
  /** The entries of the audit log that were committed with them. */
  readonly entries: AuditEntry[] = [];
  /** The warnings that were committed when half as many failures were counted. */
  readonly warnings: Notice[] = [];

  /** @param states organization states, for sandboxes that are reset */
  constructor(
    endpoints: MemoryEndpoints,
    graceSeconds = DEFAULT_GRACE_SECONDS,
    states?: Pick<MemoryOrganizationStates, 'present'>,
  ) {
    this.#endpoints = endpoints;
    this.#graceSeconds = graceSeconds;
    this.#states = states;
  }

  /** All deliveries, in the order of their addition. */
  get every(): Delivery[] {
    return [...this.#rows.values()].map(({ delivery }) => delivery);
  }

  /** The entries of the due index. */
  get due(): { delivery: Delivery; due: Due }[] {
    return [...this.#rows.values()].flatMap(({ delivery, due }) =>
      due === undefined ? [] : [{ delivery, due }],
    );
  }

  async find(ref: DeliveryRef): Promise<Delivery | undefined> {
    return this.present(ref);
  }

  async findAll(refs: readonly DeliveryRef[]): Promise<Delivery[]> {
    return refs.flatMap((ref) => this.present(ref) ?? []);
  }

  /** The current delivery. */
  present(ref: DeliveryRef): Delivery | undefined {
    return this.#rows.get(rowKey(ref))?.delivery;
  }

  dueOf(ref: DeliveryRef): Due | undefined {
    return this.#rows.get(rowKey(ref))?.due;
  }

  async add(delivery: Delivery): Promise<'added' | 'exists'> {
    if (this.#rows.has(rowKey(delivery))) return 'exists';
    this.#rows.set(rowKey(delivery), { delivery, due: undefined });
    this.stream.push({ kind: 'added', delivery });
    return 'added';
  }

  /** Deletes a delivery, as a purge does. The stream has no record of it. */
  remove(ref: DeliveryRef): void {
    this.#rows.delete(rowKey(ref));
  }

  async claim(
    ref: DeliveryRef,
    { now, leaseSeconds, maxAttempts }: { now: Date; leaseSeconds: number; maxAttempts: number },
  ): Promise<ClaimResult> {
    const row = this.#rows.get(rowKey(ref));
    const claimability = getClaimability(row?.delivery, now, maxAttempts);
    if (row === undefined) return { kind: 'absent' };
    if (claimability.kind !== 'claimable') return claimability;
    this.#claims += 1;
    const claimed: ClaimedDelivery = {
      ...row.delivery,
      attempts: row.delivery.attempts + 1,
      lease: { token: `claim-${this.#claims}`, until: now.getTime() + leaseSeconds * 1000 },
    };
    this.#rows.set(rowKey(ref), { ...row, delivery: claimed });
    return { kind: 'claimed', delivery: claimed };
  }

  async keepTurn(ref: DeliveryRef, { turn, until, isParked, now }: KeptTurn): Promise<'done' | 'refused'> {
    const row = this.#rows.get(rowKey(ref));
    const state = getClaimability(row?.delivery, now, Number.POSITIVE_INFINITY);
    if (row === undefined || state.kind !== 'claimable') return 'refused';
    const { isDeferred } = row.due ?? {};
    const nextRetryAt = until.toISOString();
    this.#rows.set(rowKey(ref), {
      delivery: { ...row.delivery, nextRetryAt, turn, ...(isParked && { parked: true as const }) },
      due: isParked ? { state: 'parked', dueAt: nextRetryAt, ...(isDeferred && { isDeferred }) } : row.due,
    });
    return 'done';
  }

  async settle(
    claimed: ClaimedDelivery,
    settlement: Settlement,
    outcome: EndpointOutcome,
  ): Promise<MoveResult> {
    const { delivery: stored, due } = this.#rows.get(rowKey(claimed)) ?? {};
    if (stored?.lease?.token !== claimed.lease.token) {
      const isRecorded = stored?.attemptLog.some(({ number }) => number === settlement.attempt.number);
      return isRecorded ? 'done' : 'refused';
    }
    if (stored.lease.until <= settlement.at.getTime()) return 'refused';
    const lastError = settlement.attempt.error ?? '';
    return this.#move(settled(stored, settlement), this.#dueAfter(settlement, due), outcome, lastError);
  }

  async exhaust(
    ref: DeliveryRef,
    { error: lastError, errorCode: lastErrorCode }: AttemptError,
    maxAttempts: number,
    outcome: EndpointOutcome,
  ): Promise<MoveResult> {
    const stored = this.#idle(ref, outcome.at);
    if (stored === undefined || stored.attempts < maxAttempts) return 'refused';
    const terminalAt = outcome.at.toISOString();
    return this.#move(
      {
        ...waitless(stored),
        status: 'exhausted',
        terminalAt,
        terminalReason: 'max_attempts',
        lastError,
        lastErrorCode,
      },
      undefined,
      outcome,
      lastError,
    );
  }

  async skip(ref: DeliveryRef, reason: SkipReason, now: Date): Promise<'done' | 'refused'> {
    const stored = this.#idle(ref, now);
    if (stored === undefined) return 'refused';
    if (reason === 'expired' && this.#rows.get(rowKey(ref))?.due?.isDeferred) return 'refused';
    this.#end({
      ...waitless(stored),
      status: 'skipped',
      terminalAt: now.toISOString(),
      terminalReason: reason,
    });
    return 'done';
  }

  /** Sets a delivery's entry in the due index if the current one is as expected and the delivery is open. */
  moveDue(ref: DeliveryRef, from: Due | undefined, to: Due): void {
    const row = this.#rows.get(rowKey(ref));
    if (row === undefined || !isOpen(row.delivery)) return;
    if (row.due?.state !== from?.state || row.due?.dueAt !== from?.dueAt) return;
    const { parked: _, ...unparked } = row.delivery;
    this.#rows.set(rowKey(ref), {
      delivery: from === undefined ? row.delivery : unparked,
      due: to,
    });
  }

  #dueAfter(settlement: Settlement, before: Due | undefined): Due | undefined {
    if (settlement.kind !== 'retrying') return undefined;
    const { nextRetryAt, wait } = settlement;
    const isDeferred = before?.isDeferred ? { isDeferred: true as const } : {};
    if (wait.hold === 'parked') return { state: 'parked', dueAt: nextRetryAt.toISOString(), ...isDeferred };
    const dueAt = new Date(nextRetryAt.getTime() + this.#graceSeconds * 1000).toISOString();
    return { state: 'watched', dueAt, ...isDeferred };
  }

  /** The delivery, when it is open and no attempt is in progress. */
  #idle(ref: DeliveryRef, now: Date): Delivery | undefined {
    const stored = this.#rows.get(rowKey(ref))?.delivery;
    const leased = stored?.lease !== undefined && stored.lease.until > now.getTime();
    return stored && isOpen(stored) && !leased ? stored : undefined;
  }

  #move(moved: Delivery, due: Due | undefined, outcome: EndpointOutcome, lastError: string): MoveResult {
    // The endpoint's condition comes first, as in the transaction.
    if (this.#endpoints.allows(outcome) && this.#isOver(moved, outcome)) return 'refused';
    if (!this.#endpoints.apply(outcome)) return 'endpoint-changed';
    if (outcome.effect === 'disable')
      this.entries.push(createStatusEntry(outcome.endpoint, 'disabled', { type: 'service' }, outcome.at));
    this.#notify(moved, outcome, lastError);
    if (isOpen(moved)) this.#rows.set(rowKey(moved), { delivery: moved, due });
    else this.#end(moved);
    return 'done';
  }

  #notify(
    { orgId, generation }: Delivery,
    { endpoint, effect, at, traceId }: EndpointOutcome,
    lastError: string,
  ) {
    if (effect !== 'warn' && effect !== 'disable') return;
    const context = { tenant: { orgId, generation }, now: at, ...withTrace(traceId) };
    const of = { webhookId: endpoint.id, lastError };
    if (effect === 'warn') this.warnings.push(createReceiverNotice('webhook.failing', of, context));
    else this.notices.push(createReceiverNotice('webhook.disabled', of, context));
  }

  /**
   * Whether an end that changes more than its delivery belongs to a generation that was reset, or to an
   * unknown one.
   */
  #isOver(delivery: Delivery, { effect }: EndpointOutcome): boolean {
    const { orgId, generation, status } = delivery;
    const arrives = status === 'succeeded' && !isFirstDelivery(delivery);
    if (this.#states === undefined || !isSandbox({ generation })) return false;
    if (effect === 'none' && !arrives) return false;
    return this.#states.present(orgId)?.generation !== generation;
  }

  #end(moved: Delivery): void {
    this.#rows.set(rowKey(moved), { delivery: moved, due: undefined });
    this.stream.push({ kind: 'ended', delivery: moved });
  }
}

const rowKey = ({ webhookId, generation, id }: DeliveryRef): string => `${webhookId}/${generation}/${id}`;

const isOpen = ({ status }: Delivery): boolean => OPEN_STATUSES.some((open) => open === status);

/** A delivery that has no wait any more. */
function waitless(stored: Delivery): Delivery {
  const { lease: _, nextRetryAt: __, parked: ___, turn: ____, ...kept } = stored;
  return kept;
}

function settled(stored: Delivery, settlement: Settlement): Delivery {
  const { attempt } = settlement;
  const { lastResponseStatus: _, ...kept } = waitless(stored);
  return {
    ...kept,
    status: settlement.kind,
    attemptLog: [...stored.attemptLog, attempt],
    ...(attempt.error === undefined ? {} : { lastError: attempt.error, lastErrorCode: attempt.errorCode }),
    ...(attempt.status === undefined ? {} : { lastResponseStatus: attempt.status }),
    ...(settlement.kind === 'retrying'
      ? {
          nextRetryAt: settlement.nextRetryAt.toISOString(),
          ...(settlement.wait.hold === 'parked' ? { parked: true as const } : {}),
        }
      : { terminalAt: settlement.at.toISOString() }),
    ...('terminalReason' in settlement && settlement.terminalReason !== undefined
      ? { terminalReason: settlement.terminalReason }
      : {}),
  };
}
