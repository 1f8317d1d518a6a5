import type { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import type { ReceiverId } from '../../functions/aws/ids.ts';
import type { OutboxEvent } from '../../functions/events/events.ts';
import type { Endpoint } from '../../functions/receivers/endpoint.ts';

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
  readonly #clock: VirtualClock;
  readonly #versions = new Map<ReceiverId, Version[]>();
  /** The position of the last version in the order. */
  order = 0;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  get ids(): ReceiverId[] {
    return [...this.#versions.keys()];
  }

  /** Adds the current version of an endpoint. */
  note(id: ReceiverId, endpoint: Endpoint | undefined): void {
    const versions = this.#versions.get(id) ?? [];
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
    return this.#between(id, from, to).map((endpoint) => isWanted(endpoint, event));
  }

  /** Whether an endpoint has at some time not been one that an event is for. */
  wasUnwanted(id: ReceiverId, event: OutboxEvent): boolean {
    return this.wanted(id, event, 0).slice(1).includes(false);
  }

  /** Whether an endpoint has been active, subscribed to an event and at a URL since some time. */
  wasAt(url: string, id: ReceiverId, event: OutboxEvent | undefined, sinceMs: number): boolean {
    const versions = this.#versions.get(id) ?? [];
    return versions.some(
      ({ endpoint }, index) =>
        (versions[index + 1]?.ms ?? sinceMs) >= sinceMs &&
        endpoint?.status === 'active' &&
        endpoint.url === url &&
        (event === undefined || isWanted(endpoint, event)),
    );
  }

  /** Whether an endpoint has ever been at its end. */
  hasEnded(id: ReceiverId, end: End): boolean {
    return this.#versions.get(id)?.some((version) => isAtEnd(version, end)) ?? false;
  }
}

const isWanted = (
  endpoint: Endpoint | undefined,
  { orgId, onlyTo, type, filterValues: { channelId, role, webhookId } = {} }: OutboxEvent,
): boolean =>
  endpoint?.orgId === orgId &&
  (onlyTo === undefined || onlyTo === endpoint.id) &&
  webhookId !== endpoint.id &&
  ((onlyTo !== undefined && (type === 'webhook.test' || type === 'channel.message')) ||
    endpoint.events.some((subscribed) => subscribed === type)) &&
  isIn(endpoint.filter?.channelIds, channelId) &&
  isIn(endpoint.filter?.roles, role);

/** A list that is not given, and a value that the event's type has not, exclude nothing. */
const isIn = (list: readonly string[] | undefined, value: string | undefined): boolean =>
  list === undefined || value === undefined || list.includes(value);

type End = 'deleted' | 'disabled' | 'paused';

const isAtEnd = ({ endpoint }: Version, end: End): boolean =>
  end === 'deleted'
    ? endpoint === undefined
    : endpoint?.status === (end === 'disabled' ? 'auto_disabled' : end);
