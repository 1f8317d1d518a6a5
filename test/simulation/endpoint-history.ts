import type { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import type { Endpoint } from '../../functions/domain/endpoint.ts';
import type { OutboxEvent } from '../../functions/domain/events.ts';
import type { OrgId, ReceiverId } from '../../functions/domain/ids.ts';
import type { Random } from './random.ts';
import type { Stores } from './stores.ts';

/** How old the result of an eventually consistent read may be. */
export const STALE_MS = 1000;

/** An endpoint as it was from then on; undefined once it is gone. */
interface Version {
  endpoint: Endpoint | undefined;
  /** Its position in the order of all changes of endpoints. */
  order: number;
  ms: number;
}

/** The versions of all endpoints. */
export class EndpointHistory {
  readonly #endpoints: Pick<Stores['endpoints'], 'present'>;
  readonly #clock: VirtualClock;
  readonly #versions = new Map<ReceiverId, Version[]>();
  /** The position of the last version in the order. */
  order = 0;

  constructor(endpoints: Pick<Stores['endpoints'], 'present'>, clock: VirtualClock) {
    this.#endpoints = endpoints;
    this.#clock = clock;
  }

  get ids(): ReceiverId[] {
    return [...this.#versions.keys()];
  }

  /** Adds the current version of an endpoint. */
  note(orgId: OrgId, id: ReceiverId): void {
    const endpoint = this.#endpoints.present(orgId, id);
    const versions = this.#versions.get(id) ?? [];
    if (versions.length > 0 && versions.at(-1)?.endpoint === endpoint) return;
    this.order += 1;
    versions.push({ endpoint, order: this.order, ms: this.#clock.ms });
    this.#versions.set(id, versions);
  }

  /** The versions of an endpoint between two positions in the order. */
  #between(id: ReceiverId, from: number, to: number): (Endpoint | undefined)[] {
    const versions = this.#versions.get(id) ?? [];
    const at = versions.findLast(({ order }) => order <= from);
    const later = versions.filter(({ order }) => order > from && order <= to);
    return [at?.endpoint, ...later.map(({ endpoint }) => endpoint)];
  }

  /** Whether an endpoint was to get an event, at each time between two positions in the order. */
  wanted(id: ReceiverId, event: OutboxEvent, from: number, to = Number.POSITIVE_INFINITY): boolean[] {
    return this.#between(id, from, to).map(
      (endpoint) =>
        endpoint?.orgId === event.orgId &&
        (event.onlyTo === undefined
          ? endpoint.events.some((type) => type === event.type)
          : event.onlyTo === endpoint.id),
    );
  }

  /** Whether an endpoint has at some time not been one that an event is for. */
  wasUnwanted(id: ReceiverId, event: OutboxEvent | undefined): boolean {
    return event !== undefined && this.wanted(id, event, 0).slice(1).includes(false);
  }

  /**
   * The endpoint as an eventually consistent read may return it. A missing one is read again consistently, so
   * that a new endpoint is always found.
   * @param share how often it returns an earlier version
   */
  staleRead(orgId: OrgId, id: ReceiverId, random: Random, share: number): Endpoint | undefined {
    const present = this.#endpoints.present(orgId, id);
    if (!random.chance(share)) return present;
    const then = this.#clock.ms - random.below(STALE_MS);
    return this.#versions.get(id)?.findLast(({ ms }) => ms <= then)?.endpoint ?? present;
  }

  /** When the current version began, in milliseconds; undefined when the predicate does not hold. */
  endedMs(id: ReceiverId, end: 'deleted' | 'disabled'): number | undefined {
    const has = ({ endpoint }: Version) =>
      end === 'deleted' ? endpoint === undefined : endpoint?.status === 'auto_disabled';
    return this.#versions.get(id)?.find(has)?.ms;
  }
}
