import { BatchGetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { type Permit, requirePermit } from '../domain/gate.ts';
import type { OrgId } from '../domain/ids.ts';
import { addUsage, type MeteredEvent, NO_USAGE, sumUsage, UsageCounts } from '../domain/usage.ts';
import { buildUsageKeyBounds, keys, USAGE_SHARDS } from './keys.ts';
import { type Table, toExpiry } from './table.ts';
import { buildAddition, type Change, type Commit, Contended, committer } from './transaction.ts';

/** Events per transaction: with a month each, marks and counters are the 100 items that DynamoDB takes. */
const EVENTS = 50;

/** Tries of a transaction; each retries the events that are not counted yet. */
const MAX_ROUNDS = 5;

/**
 * Days for which a counted event is known. Copies can arrive for 31 days: 3 in the publisher's dead letters,
 * 14 in the meter's queue, 14 in its dead letters.
 */
const MARK_DAYS = 60;

/**
 * Counts the usage of organizations.
 * @param wait between tries of a transaction, as for `committer`
 */
export function usageMeter(usage: Table, wait?: (attempt: number) => Promise<unknown>) {
  const mark = (orgId: OrgId, { id, createdAt }: MeteredEvent): Change =>
    buildAddition(usage, {
      ...keys.metered(orgId, id),
      orgId,
      expiresAt: toExpiry(new Date(createdAt), MARK_DAYS),
    });

  /** Adds to a random shard of the month. */
  const increase = (orgId: OrgId, month: string, { conversations, messages }: UsageCounts): Change => ({
    // No condition.
    refusal: 'exists',
    write: {
      Update: {
        TableName: usage.name,
        Key: keys.usageOf(orgId, month, Math.floor(Math.random() * USAGE_SHARDS)),
        UpdateExpression:
          'SET orgId = :orgId, #month = :month ADD conversations :conversations, messages :messages',
        ExpressionAttributeNames: { '#month': 'month' },
        ExpressionAttributeValues: {
          ':orgId': orgId,
          ':month': month,
          ':conversations': conversations,
          ':messages': messages,
        },
      },
    },
  });

  const changesOf = (orgId: OrgId, events: readonly MeteredEvent[]): Change[] => [
    ...events.map((event) => mark(orgId, event)),
    ...[...sumUsage(events)].map(([month, counts]) => increase(orgId, month, counts)),
  ];

  /** Events without a mark. */
  async function unmarked(orgId: OrgId, events: readonly MeteredEvent[]): Promise<MeteredEvent[]> {
    const { Responses } = await usage.client.send(
      new BatchGetCommand({
        RequestItems: {
          [usage.name]: {
            Keys: events.map(({ id }) => keys.metered(orgId, id)),
            ConsistentRead: true,
            ProjectionExpression: 'pk',
          },
        },
      }),
    );
    const marked = new Set((Responses?.[usage.name] ?? []).map(({ pk }) => pk));
    return events.filter(({ id }) => !marked.has(keys.metered(orgId, id).pk));
  }

  return {
    /**
     * Counts events of the permit's organization, each once: its mark and its count are in one transaction.
     * @returns events that may not be counted, because of contention
     * @throws DynamoDB's error; counted events are recognized at the next try
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
          if (await tryCommit(commit, changesOf(orgId, rest))) rest = [];
          else rest = await unmarked(orgId, rest);
        }
        left.push(...rest);
      }
      return left;
    },
  };
}

/** False when some events are marked, or under contention. */
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
    const pages = paginateQuery(
      { client: usage.client },
      {
        TableName: usage.name,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
        ExpressionAttributeValues: { ':pk': keys.usage(orgId), ':first': first, ':last': last },
      },
    );
    for await (const { Items = [] } of pages)
      for (const item of Items) {
        const { month, ...counts } = Counter.parse(item);
        months.set(month, addUsage(months.get(month) ?? NO_USAGE, counts));
      }
    return months;
  };
}
