import type { Endpoint } from '../../api/webhooks.ts';

/** What a recovery reads of an endpoint. */
type Link = Pick<
  Endpoint,
  'id' | 'status' | 'createdAt' | 'disabledAt' | 'predecessor' | 'consecutiveFailures'
>;

/** The endpoints that took the place of one another after outages. */
export interface Chain<L extends Link> {
  /** The newest one, which is to receive what is missing. */
  current: L;
  /** Disabled ones that it replaces and that are not deleted yet, oldest first. */
  replaced: L[];
  /** When the first failure of the outage ended, or the endpoint was disabled; undefined if none was. */
  failingSince: string | undefined;
}

const successorOf = <L extends Link>(id: string, endpoints: readonly L[]): L | undefined =>
  endpoints
    .filter(({ predecessor }) => predecessor?.id === id)
    .toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1))
    .at(-1);

const isDisabled = ({ status }: Pick<Link, 'status'>): boolean => status === 'auto_disabled';

/**
 * Finds the recovery that an endpoint belongs to, from any of its endpoints, a deleted one included: the
 * state of a recovery is in the endpoints, so it continues after a reload and in another tab.
 * @returns undefined for an endpoint that does not exist and has no successor
 */
export function chainOf<L extends Link>(id: string, endpoints: readonly L[]): Chain<L> | undefined {
  const members = membersFrom(id, endpoints);
  const current = members.at(-1);
  if (current === undefined) return undefined;
  const replaced = members.slice(0, -1).filter(isDisabled);
  return { current, replaced, failingSince: beginningOf(members, current) };
}

/** All that are linked to an endpoint and exist, oldest first. */
function membersFrom<L extends Link>(id: string, endpoints: readonly L[]): L[] {
  const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  const members: L[] = [];
  const known = new Set<string>();
  const add = (found: L | undefined, place: 'before' | 'after'): boolean => {
    if (found === undefined || known.has(found.id)) return false;
    known.add(found.id);
    if (place === 'before') members.unshift(found);
    else members.push(found);
    return true;
  };
  add(byId.get(id) ?? successorOf(id, endpoints), 'after');
  while (add(byId.get(members[0]?.predecessor?.id ?? ''), 'before'));
  while (add(successorOf(members.at(-1)?.id ?? '', endpoints), 'after'));
  return members;
}

/** Of the outage alone that disabled these: an earlier one is the first one's predecessor. */
function beginningOf(members: readonly Link[], current: Link): string | undefined {
  const isOnly = members.length === 1 && !isDisabled(current);
  const times = [
    ...(isOnly ? members : members.slice(1)).flatMap(({ predecessor }) =>
      predecessor === null ? [] : [predecessor.failingSince ?? predecessor.disabledAt],
    ),
    ...(isDisabled(current) ? [current.disabledAt ?? current.createdAt] : []),
  ];
  return times.toSorted()[0];
}

/** The first delivery that failed had been attempted for about an hour. */
const MARGIN_MS = 2 * 3_600_000;

/** Where to begin resending, in milliseconds since the epoch: two hours before the first failure. */
export const startOfOutage = (failingSince: string): number => Date.parse(failingSince) - MARGIN_MS;

interface Hours {
  from: string;
  hours: readonly { hour: string; exhausted: number; skipped: number }[];
}

const HOUR_MS = 3_600_000;

/**
 * Counts the deliveries of an endpoint that failed or were skipped.
 * @param stats by hour
 * @param since ISO 8601
 * @returns the count, and whether the statistics begin before `since`
 */
export function countMissed({ from, hours }: Hours, since: string): { count: number; isWhole: boolean } {
  const first = Math.floor(Date.parse(since) / HOUR_MS) * HOUR_MS;
  const counted = hours.filter(({ hour }) => Date.parse(hour) >= first);
  return {
    count: counted.reduce((sum, { exhausted, skipped }) => sum + exhausted + skipped, 0),
    isWhole: Date.parse(from) <= Date.parse(since),
  };
}
