import type { ItemOf } from '../../../sdk/src/index.ts';
import type { Api } from '../connection/connect.ts';
import { describeErrorCode, linkToCause } from '../error-codes.ts';
import { type Untrusted, untrusted } from './untrusted.ts';

type Delivery = ItemOf<'listDeliveries'>;

/** Deliveries that failed in the same way. */
interface Cause {
  /** The code of the last attempt's error, or why none was made. */
  cause: string;
  /** What the code means. */
  meaning?: string;
  /** Page of the documentation with what to check and to do. */
  help?: string;
  /** Of the response to the last attempt. */
  responseStatus?: number;
  /** The error of the newest delivery. */
  error?: string;
  count: number;
  /** By status: `retrying`, `exhausted`, `skipped`. */
  statuses: Record<string, number>;
  endpoints: Record<string, number>;
  firstAt: string;
  lastAt: string;
  /** The newest ones. */
  examples: { deliveryId: string; webhookId: string; eventId: string }[];
  /** What a receiver responded, at most 1 KiB. */
  response?: Untrusted<string>;
}

export interface FailuresByCause {
  from: string;
  /** The most frequent first. */
  causes: Cause[];
  /** Whether more deliveries failed than were read. */
  isPartial: boolean;
}

const FAILED = ['retrying', 'exhausted', 'skipped'] as const;
/** Deliveries that are read of each endpoint. */
const MOST = 300;
const EXAMPLES = 3;

/** Groups what failed since a time, at one endpoint or at all. */
export async function failuresByCause(
  { client, baseUrl }: Api,
  { from, endpoint }: { from: Date; endpoint?: string | undefined },
  options: { signal?: AbortSignal } = {},
): Promise<FailuresByCause> {
  const endpoints =
    endpoint === undefined
      ? (await client.endpoints.list({ limit: 100 }, options).take(100)).map(({ id }) => id)
      : [endpoint];
  const lists: Delivery[][] = [];
  for (const id of endpoints) {
    const filter = { status: FAILED, from: from.toISOString(), include: 'response', limit: 100 } as const;
    lists.push(await client.deliveries.list(id, filter, options).take(MOST));
  }
  return {
    from: from.toISOString(),
    causes: groupByCause(lists.flat(), baseUrl),
    isPartial: lists.some(({ length }) => length >= MOST),
  };
}

function groupByCause(deliveries: readonly Delivery[], baseUrl: string): Cause[] {
  const byCause = Map.groupBy(deliveries, causeOf);
  return [...byCause]
    .flatMap(([cause, of]) => {
      const byStatus = Map.groupBy(of, ({ lastResponseStatus }) => lastResponseStatus);
      return [...byStatus.values()].map((group) => describeGroup(cause, group, baseUrl));
    })
    .sort((a, b) => b.count - a.count);
}

/** The code of the last attempt's error; null for a skipped delivery, which ended for a reason of its own. */
const codeOf = ({ status, lastErrorCode }: Delivery) => (status === 'skipped' ? null : lastErrorCode);

const causeOf = (delivery: Delivery): string => codeOf(delivery) ?? delivery.terminalReason ?? 'unknown';

function describeGroup(cause: string, group: readonly Delivery[], baseUrl: string): Cause {
  const times = group.map(({ createdAt }) => createdAt).sort();
  const newest = group.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  const [last] = newest;
  const code = last && codeOf(last);
  const response = newest.find(({ lastResponse }) => lastResponse)?.lastResponse;
  return {
    cause,
    ...(code && { meaning: describeErrorCode(code), help: linkToCause(code, baseUrl) }),
    ...(code && last.lastError !== null && { error: last.lastError }),
    ...(last?.lastResponseStatus && { responseStatus: last.lastResponseStatus }),
    count: group.length,
    statuses: countBy(group, ({ status }) => status),
    endpoints: countBy(group, ({ webhookId }) => webhookId),
    firstAt: times[0] ?? '',
    lastAt: times.at(-1) ?? '',
    examples: newest
      .slice(0, EXAMPLES)
      .map(({ id, webhookId, eventId }) => ({ deliveryId: id, webhookId, eventId })),
    ...(response !== undefined && { response: untrusted(response) }),
  };
}

function countBy(group: readonly Delivery[], keyOf: (delivery: Delivery) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const delivery of group) counts[keyOf(delivery)] = (counts[keyOf(delivery)] ?? 0) + 1;
  return counts;
}
