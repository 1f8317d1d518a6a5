import { isDeepStrictEqual } from 'node:util';
import type { OrgId, ReceiverId } from '../../functions/aws/ids.ts';
import type { EndpointOutcome } from '../../functions/receivers/endpoint.ts';
import {
  type Endpoint,
  type EndpointEffect,
  FAILURES_TO_DISABLE,
  FAILURES_TO_WARN,
} from '../../functions/receivers/endpoint.ts';
import type { PaceMark } from '../../functions/receivers/pace.ts';

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

  async setPace(
    orgId: OrgId,
    id: ReceiverId,
    seen: PaceMark | undefined,
    mark: PaceMark | undefined,
  ): Promise<void> {
    const { pace, ...endpoint } = this.#rows.get(rowKey(orgId, id)) ?? {};
    if ('id' in endpoint && isDeepStrictEqual(pace, seen))
      this.put({ ...endpoint, ...(mark && { pace: mark }) });
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
