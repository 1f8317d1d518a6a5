import {
  type Claimed,
  type ClaimResult,
  type Delivery,
  type DeliveryRef,
  type EndpointOutcome,
  type MoveResult,
  OPEN_STATUSES,
  type Settlement,
  type SkipReason,
  standingOf,
} from '../../functions/domain/delivery.ts';
import type { DispatchPorts } from '../../functions/engine/dispatch.ts';
import type { FanOutPorts } from '../../functions/engine/fan-out.ts';
import type { MemoryEndpoints } from './memory-endpoints.ts';

type DeliveryPorts = DispatchPorts['deliveries'] & FanOutPorts['deliveries'];

/**
 * Deliveries in memory. Every move takes place at once when it is called and only its answer is awaited, as a conditional
 * write's does; what it does to the endpoint happens with it or not at all.
 */
export class MemoryDeliveries implements DeliveryPorts {
  readonly #endpoints: MemoryEndpoints;
  readonly #rows = new Map<string, Delivery>();
  #claims = 0;

  constructor(endpoints: MemoryEndpoints) {
    this.#endpoints = endpoints;
  }

  /** Every delivery there is, in the order of their addition. */
  get every(): Delivery[] {
    return [...this.#rows.values()];
  }

  async find(ref: DeliveryRef): Promise<Delivery | undefined> {
    return this.#rows.get(rowKey(ref));
  }

  async add(delivery: Delivery): Promise<'added' | 'exists'> {
    if (this.#rows.has(rowKey(delivery))) return 'exists';
    this.#rows.set(rowKey(delivery), delivery);
    return 'added';
  }

  async claim(
    ref: DeliveryRef,
    { now, leaseSeconds, maxAttempts }: { now: Date; leaseSeconds: number; maxAttempts: number },
  ): Promise<ClaimResult> {
    const found = this.#rows.get(rowKey(ref));
    const standing = standingOf(found, now, maxAttempts);
    if (found === undefined) return { kind: 'absent' };
    if (standing.kind !== 'claimable') return standing;
    this.#claims += 1;
    const claimed: Claimed = {
      ...found,
      attempts: found.attempts + 1,
      lease: { token: `claim-${this.#claims}`, until: now.getTime() + leaseSeconds * 1000 },
    };
    this.#rows.set(rowKey(ref), claimed);
    return { kind: 'claimed', delivery: claimed };
  }

  async settle(claimed: Claimed, settlement: Settlement, outcome: EndpointOutcome): Promise<MoveResult> {
    const found = this.#rows.get(rowKey(claimed));
    if (found?.lease?.token !== claimed.lease.token) return 'refused';
    if (found.lease.until <= settlement.at.getTime()) return 'refused';
    return this.#move(settled(found, settlement), outcome);
  }

  async exhaust(
    ref: DeliveryRef,
    lastError: string,
    maxAttempts: number,
    outcome: EndpointOutcome,
  ): Promise<MoveResult> {
    const found = this.#idle(ref, outcome.at);
    if (found === undefined || found.attempts < maxAttempts) return 'refused';
    const { lease: _, nextRetryAt: __, ...kept } = found;
    return this.#move(
      {
        ...kept,
        status: 'exhausted',
        terminalAt: outcome.at.toISOString(),
        terminalReason: 'max_attempts',
        lastError,
      },
      outcome,
    );
  }

  async skip(ref: DeliveryRef, reason: SkipReason, now: Date): Promise<MoveResult> {
    const found = this.#idle(ref, now);
    if (found === undefined) return 'refused';
    const { lease: _, nextRetryAt: __, ...kept } = found;
    return this.#move({
      ...kept,
      status: 'skipped',
      terminalAt: now.toISOString(),
      terminalReason: reason,
    });
  }

  /** The delivery, when it is open and nobody is attempting it. */
  #idle(ref: DeliveryRef, now: Date): Delivery | undefined {
    const found = this.#rows.get(rowKey(ref));
    const open = OPEN_STATUSES.some((status) => status === found?.status);
    const leased = found?.lease !== undefined && found.lease.until > now.getTime();
    return open && !leased ? found : undefined;
  }

  #move(moved: Delivery, outcome?: EndpointOutcome): MoveResult {
    if (outcome !== undefined && !this.#endpoints.apply(outcome)) return 'endpoint-changed';
    this.#rows.set(rowKey(moved), moved);
    return 'done';
  }
}

const rowKey = ({ webhookId, generation, id }: DeliveryRef): string => `${webhookId}/${generation}/${id}`;

function settled(found: Delivery, settlement: Settlement): Delivery {
  const { attempt } = settlement;
  const { lease: _, nextRetryAt: __, lastResponseStatus: ___, ...kept } = found;
  return {
    ...kept,
    status: settlement.kind,
    attemptLog: [...found.attemptLog, attempt],
    ...(attempt.error === undefined ? {} : { lastError: attempt.error }),
    ...(attempt.status === undefined ? {} : { lastResponseStatus: attempt.status }),
    ...(settlement.kind === 'retrying'
      ? { nextRetryAt: settlement.nextRetryAt.toISOString() }
      : { terminalAt: settlement.at.toISOString() }),
    ...(settlement.kind === 'exhausted' ? { terminalReason: 'max_attempts' as const } : {}),
  };
}
