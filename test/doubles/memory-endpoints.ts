import type { EndpointOutcome } from '../../functions/domain/delivery.ts';
import {
  type Endpoint,
  type EndpointEffect,
  FAILURES_TO_DISABLE,
  FAILURES_TO_WARN,
} from '../../functions/domain/endpoint.ts';
import type { OrgId, ReceiverId } from '../../functions/domain/ids.ts';
import { SLOW_SECONDS, STALLED_SECONDS } from '../../functions/domain/lanes.ts';

/** Endpoints in memory, with the engine's ports. */
export class MemoryEndpoints {
  readonly #rows = new Map<string, Endpoint>();

  async find(orgId: OrgId, id: ReceiverId): Promise<Endpoint | undefined> {
    return this.present(orgId, id);
  }

  /** The current endpoint. */
  present(orgId: OrgId, id: ReceiverId): Endpoint | undefined {
    return this.#rows.get(rowKey(orgId, id));
  }

  async all(orgId: OrgId): Promise<Endpoint[]> {
    return [...this.#rows.values()].filter((endpoint) => endpoint.orgId === orgId);
  }

  async markSlow(orgId: OrgId, id: ReceiverId, until: Date): Promise<void> {
    this.#mark(orgId, id, 'slowUntil', until, SLOW_SECONDS, { unproven: true });
  }

  async markProven(orgId: OrgId, id: ReceiverId, now: Date): Promise<void> {
    const { unproven, ...endpoint } = this.#rows.get(rowKey(orgId, id)) ?? {};
    if (unproven && 'id' in endpoint && (endpoint.slowUntil ?? '') <= now.toISOString()) this.put(endpoint);
  }

  async markStalled(orgId: OrgId, id: ReceiverId, until: Date): Promise<void> {
    this.#mark(orgId, id, 'stalledUntil', until, STALLED_SECONDS);
  }

  async endStalled(orgId: OrgId, id: ReceiverId, seen: string): Promise<void> {
    const { stalledUntil, ...endpoint } = this.#rows.get(rowKey(orgId, id)) ?? {};
    if (stalledUntil === seen && 'id' in endpoint) this.put(endpoint);
  }

  #mark(
    orgId: OrgId,
    id: ReceiverId,
    name: 'slowUntil' | 'stalledUntil',
    until: Date,
    holdsSeconds: number,
    also: Pick<Endpoint, 'unproven'> = {},
  ): void {
    const endpoint = this.#rows.get(rowKey(orgId, id));
    const soon = new Date(until.getTime() - (holdsSeconds / 2) * 1000).toISOString();
    if (endpoint && (endpoint[name] ?? '') < soon)
      this.put({ ...endpoint, ...also, [name]: until.toISOString() });
  }

  put(endpoint: Endpoint): void {
    this.#rows.set(rowKey(endpoint.orgId, endpoint.id), endpoint);
  }

  remove(orgId: OrgId, id: ReceiverId): void {
    this.#rows.delete(rowKey(orgId, id));
  }

  /** Whether the endpoint is in a state that the effect allows. */
  allows({ endpoint, effect, at }: EndpointOutcome): boolean {
    return effect === 'none' || affected(this.#of(endpoint), effect, at) !== undefined;
  }

  /**
   * Makes the change of a delivery's end synchronously, since both are one transaction.
   * @returns whether the endpoint was in a state that the effect allows
   */
  apply({ endpoint, effect, at }: EndpointOutcome): boolean {
    if (effect === 'none') return true;
    const changed = affected(this.#of(endpoint), effect, at);
    if (changed) this.put(changed);
    return changed !== undefined;
  }

  #of({ orgId, id }: EndpointOutcome['endpoint']): Endpoint | undefined {
    return this.#rows.get(rowKey(orgId, id));
  }
}

const rowKey = (orgId: OrgId, id: ReceiverId): string => `${orgId}/${id}`;

function affected(
  endpoint: Endpoint | undefined,
  effect: Exclude<EndpointEffect, 'none'>,
  at: Date,
): Endpoint | undefined {
  if (endpoint?.status !== 'active') return undefined;
  const failures = endpoint.consecutiveFailures;
  const isLast = failures >= FAILURES_TO_DISABLE - 1;
  const isWarned = failures === FAILURES_TO_WARN - 1;
  const { failingSince = at.toISOString(), ...kept } = endpoint;
  const counted = { ...endpoint, failingSince, consecutiveFailures: failures + 1 };
  switch (effect) {
    case 'reset':
      return { ...kept, consecutiveFailures: 0 };
    case 'count':
      return isLast || isWarned ? undefined : counted;
    case 'warn':
      return isWarned ? counted : undefined;
    case 'disable':
      return isLast
        ? {
            ...counted,
            status: 'auto_disabled',
            disabledAt: at.toISOString(),
            disabledReason: 'consecutive_failures',
          }
        : undefined;
  }
}
