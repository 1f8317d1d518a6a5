import * as z from 'zod/mini';
import { assign, expression } from '../aws/expression.ts';
import { buildUpdate, getMany, queryAll, type Table, toExpiry } from '../aws/table.ts';
import { type Permit, requirePermit } from '../domain/gate.ts';
import type { OrgId } from '../domain/ids.ts';
import { addUsage, type MeteredEvent, NO_USAGE, sumUsage, UsageCounts } from '../domain/usage.ts';
import { buildUsageKeyBounds, keys, USAGE_SHARDS } from './keys.ts';
import { buildAddition, type Change, type Commit, Contended, committer } from './transaction.ts';

/** Events per transaction: a mark and at most one counter each, within DynamoDB's limit of 100 items. */
const EVENTS = 50;

/** Attempts of a transaction; each leaves out events that are already counted. */
const MAX_ROUNDS = 5;

/**
 * Days for which marks of counted events are kept. Copies can arrive for 31 days: 3 in the publisher's
 * dead-letter queue, 14 in the meter's queue, 14 in its dead-letter queue.
 */
const MARK_DAYS = 60;

/**
 * Counts the usage of organizations.
 * @param wait between tries of a transaction, as for `committer`
 */
export function usageMeter(usage: Table, wait?: (attempt: number) => Promise<unknown>) {
  const buildMark = (orgId: OrgId, { id, createdAt }: MeteredEvent): Change =>
    buildAddition(usage, {
      ...keys.metered(orgId, id),
      orgId,
      expiresAt: toExpiry(new Date(createdAt), MARK_DAYS),
    });

  /** Adds to a random shard of the month. */
  const buildIncrease = (orgId: OrgId, month: string, { conversations, messages }: UsageCounts): Change =>
    buildUpdate(usage, keys.usageOf(orgId, month, Math.floor(Math.random() * USAGE_SHARDS)), {
      // There is no condition that could be refused.
      refusal: 'exists',
      update: expression`SET ${assign({ orgId, month })} ADD conversations ${conversations}, messages ${messages}`,
    });

  const buildChanges = (orgId: OrgId, events: readonly MeteredEvent[]): Change[] => [
    ...events.map((event) => buildMark(orgId, event)),
    ...[...sumUsage(events)].map(([month, counts]) => buildIncrease(orgId, month, counts)),
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
          if (await tryCommit(commit, buildChanges(orgId, rest))) rest = [];
          else rest = await findUnmarked(orgId, rest);
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
