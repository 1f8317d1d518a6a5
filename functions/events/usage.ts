import * as z from 'zod/mini';
import { assign, expression } from '../aws/expression.ts';
import type { OrgId } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import { getMany, queryAll, type Table, toExpiry } from '../aws/table.ts';
import {
  buildAddition,
  buildUpdate,
  type Change,
  type Commit,
  Contended,
  committer,
} from '../aws/transaction.ts';
import { type Gate, type Permit, requirePermit } from '../tenancy/gate.ts';
import { buildUsageKeyBounds, keys, USAGE_SHARDS } from '../tenancy/keys.ts';
import type { BusEvent } from './bus.ts';
import type { EventType } from './events.ts';

/** Billed counts of an organization. */
export const UsageCounts = z.object({ conversations: z.int(), messages: z.int() });
export type UsageCounts = z.infer<typeof UsageCounts>;

export const NO_USAGE: UsageCounts = { conversations: 0, messages: 0 };

/** Counted events. Messages of all roles count. */
const COUNTED_AS = {
  'conversation.created': 'conversations',
  'message.received': 'messages',
} as const satisfies { [T in EventType]?: keyof UsageCounts };
export type MeteredType = keyof typeof COUNTED_AS;

export const METERED_TYPES = Object.keys(COUNTED_AS) as MeteredType[];

/** The counted fields of an event. Its organization is the permit's. */
export interface MeteredEvent extends Pick<BusEvent, 'id' | 'createdAt'> {
  type: MeteredType;
}

export const isMetered = <T extends Pick<BusEvent, 'type'>>(event: T): event is T & { type: MeteredType } =>
  METERED_TYPES.some((type) => type === event.type);

/** UTC month, as `2026-11`. */
export const toMonth = (time: Date): string => time.toISOString().slice(0, 7);

/** @returns the last `count` months, newest first, the current one included */
export const getLatestMonths = (now: Date, count: number): string[] =>
  Array.from({ length: count }, (_, back) =>
    toMonth(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back))),
  );

export const addUsage = (a: UsageCounts, b: UsageCounts): UsageCounts => ({
  conversations: a.conversations + b.conversations,
  messages: a.messages + b.messages,
});

/** Sums events by the month in which each happened, however late it is counted. */
export function sumUsage(events: readonly MeteredEvent[]): Map<string, UsageCounts> {
  const months = new Map<string, UsageCounts>();
  for (const { type, createdAt } of events) {
    const month = toMonth(new Date(createdAt));
    const count = { ...NO_USAGE, [COUNTED_AS[type]]: 1 };
    months.set(month, addUsage(months.get(month) ?? NO_USAGE, count));
  }
  return months;
}

/** Events per transaction: a mark and at most one counter each, within DynamoDB's limit of 100 items. */
const EVENTS = 50;

/** Attempts of a transaction; each leaves out events that are already counted. */
const MAX_ROUNDS = 5;

/**
 * Days for which marks of counted events are kept. Copies can arrive for 31 days: 3 in the publisher's
 * dead-letter queue, 14 in the meter's queue, 14 in its dead-letter queue.
 */
const MARK_DAYS = 60;

export type UsageMeter = ReturnType<typeof usageMeter>;

/**
 * Counts the usage of organizations.
 * @param wait between tries of a transaction, as for `committer`
 */
export function usageMeter(usage: Table, wait?: (attempt: number) => Promise<unknown>) {
  /** Marks the events, and adds to a random shard of each month. */
  const buildChanges = (orgId: OrgId, events: readonly MeteredEvent[]): Change[] => [
    ...events.map(({ id, createdAt }) => {
      const expiresAt = toExpiry(new Date(createdAt), MARK_DAYS);
      return buildAddition(usage, { ...keys.metered(orgId, id), orgId, expiresAt });
    }),
    ...[...sumUsage(events)].map(([month, { conversations, messages }]) =>
      buildUpdate(usage, keys.usageOf(orgId, month, Math.floor(Math.random() * USAGE_SHARDS)), {
        // There is no condition that could be refused.
        refusal: 'exists',
        update: expression`SET ${assign({ orgId, month })} ADD conversations ${conversations}, messages ${messages}`,
      }),
    ),
  ];

  async function findUnmarked(orgId: OrgId, events: readonly MeteredEvent[]): Promise<MeteredEvent[]> {
    const rows = await getMany(
      usage,
      events.map(({ id }) => keys.metered(orgId, id)),
      { consistent: true, attributes: ['pk'] },
    );
    const marked = new Set(rows.map(({ pk }) => pk));
    return events.filter(({ id }) => !marked.has(keys.metered(orgId, id).pk));
  }

  return {
    /**
     * Counts each event of the permit's organization once: mark and count are one transaction.
     * @returns events that may be uncounted because of contention
     * @throws DynamoDB's error; a retry skips the events that were counted
     */
    async count(events: readonly MeteredEvent[], permit: Permit): Promise<MeteredEvent[]> {
      requirePermit(permit);
      const { orgId } = permit;
      const commit = committer(usage.client, wait);
      const distinct = [...new Map(events.map((event) => [event.id, event])).values()];
      const left: MeteredEvent[] = [];
      for (let start = 0; start < distinct.length; start += EVENTS) {
        let rest = distinct.slice(start, start + EVENTS);
        for (let round = 1; round <= MAX_ROUNDS && rest.length > 0; round += 1) {
          rest = (await tryCommit(commit, buildChanges(orgId, rest))) ? [] : await findUnmarked(orgId, rest);
        }
        left.push(...rest);
      }
      return left;
    },
  };
}

/** @returns false when some events are marked, or under contention */
async function tryCommit(commit: Commit, changes: readonly Change[]): Promise<boolean> {
  try {
    return (await commit(changes)).kind === 'committed';
  } catch (error) {
    if (error instanceof Contended) return false;
    throw error;
  }
}

/**
 * Counts the usage of live organizations; sandboxes have no billable usage (docs/specification.md, Sandbox).
 * Each organization of a batch passes the gate on its own, so that one failure does not block others.
 * @returns the events to retry
 */
export function meterUsage({ gate, usage, log }: { gate: Gate; usage: UsageMeter; log: Log }) {
  return async (events: readonly BusEvent[]): Promise<BusEvent[]> => {
    const retried = new Set<string>();
    const byOrganization = Map.groupBy(events.filter(isMetered), ({ orgId }) => orgId);
    await Promise.all(
      [...byOrganization].map(async ([orgId, metered]) => {
        try {
          const left = await gate(orgId, {
            live: (permit) => usage.count(metered, permit),
            sandbox: async () => [],
          });
          for (const { id } of left) retried.add(id);
          if (left.length > 0) log('USAGE_CONTENDED', { orgId, events: left.length });
        } catch (error) {
          for (const { id } of metered) retried.add(id);
          log('USAGE_NOT_COUNTED', { orgId, events: metered.length, error });
        }
      }),
    );
    return events.filter(({ id }) => retried.has(id));
  };
}

const Counter = z.object({ month: z.string(), ...UsageCounts.shape });

/** @returns the counts of each month of a range (`2026-11`); months without usage are left out */
export function usageReader(usage: Table) {
  return async (
    orgId: OrgId,
    { from, to }: { from: string; to: string },
  ): Promise<Map<string, UsageCounts>> => {
    const [first, last] = buildUsageKeyBounds(from, to);
    const months = new Map<string, UsageCounts>();
    if (first > last) return months;
    const where = expression`pk = ${keys.usage(orgId)} AND sk BETWEEN ${first} AND ${last}`;
    for (const row of await queryAll(usage, { where })) {
      const { month, ...counts } = Counter.parse(row);
      months.set(month, addUsage(months.get(month) ?? NO_USAGE, counts));
    }
    return months;
  };
}
