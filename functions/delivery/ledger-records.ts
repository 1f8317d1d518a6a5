import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { BoundedMap, TimedCache } from '../aws/cache.ts';
import { assign, attribute, expression, increase, unchanged } from '../aws/expression.ts';
import type { ReceiverId } from '../aws/ids.ts';
import { buildIdBounds } from '../aws/ids.ts';
import {
  BATCH,
  getMany,
  query,
  queryAll,
  type Row,
  readRows,
  type Table,
  toExpiry,
  update,
} from '../aws/table.ts';
import { HISTORY_DAYS } from '../events/events.ts';
import { buildSandboxMark, keys } from '../tenancy/keys.ts';
import { parseDelivery } from './deliveries.ts';
import type { Delivery } from './delivery.ts';
import {
  type AttemptDurations,
  countOpen,
  DURATION_CLASSES,
  getHourBefore,
  type HourRange,
  type LedgerAddition,
  type LedgerCounts,
  LedgerEntry,
  toEndOfHour,
} from './ledger.ts';

/** Endpoints per page of a ledger audit: the maximum of a batch read. */
const ACTIVE_PAGE = BATCH;
/** Pairs of endpoint and day that an instance caches as recorded. */
const MAX_NOTED = 10_000;

const parse = (row: Record<string, unknown>): LedgerEntry =>
  LedgerEntry.parse({ ...row, durations: readDurations(row) });

/** Attributes of their own, because an addition to a map would need the map to exist. */
const buildDurationAttribute = (number: string): string => `t${number}`;

/** @returns undefined in entries without counted durations */
function readDurations(row: Readonly<Record<string, unknown>>): AttemptDurations | undefined {
  const counted = DURATION_CLASSES.flatMap((number) => {
    const count = row[buildDurationAttribute(number)];
    return typeof count === 'number' ? [[number, count] as const] : [];
  });
  return counted.length === 0 ? undefined : Object.fromEntries(counted);
}

/** What an entry adds, by attribute. */
const listAdditions = (entry: LedgerAddition): Record<string, number> => ({
  ...Object.fromEntries(COUNTS.map((name) => [name, entry[name]])),
  ...Object.fromEntries(
    Object.entries(entry.durations ?? {}).map(([number, count]) => [buildDurationAttribute(number), count]),
  ),
});

/** Records that an endpoint has counts on a day. */
const Active = z.pick(LedgerEntry, { webhookId: true, generation: true });

/** A part of a shard of the delivery stream, by its first and last sequence numbers. */
export interface StreamPart {
  shardId: string;
  first: string;
  last: string;
}

/**
 * Counts by endpoint and hour. Each entry has, per shard of the stream, the position up to which it counts.
 */
export function ledgerStore(ledger: Table) {
  const noted = new BoundedMap<string, true>(MAX_NOTED);

  /** Records that an endpoint has counts on a day, once per instance; repetitions are harmless. */
  async function noteActive(entry: LedgerAddition): Promise<void> {
    const { orgId, webhookId, generation, hour } = entry;
    const key = keys.active(webhookId, generation, hour);
    const name = `${key.pk}/${key.sk}`;
    if (noted.has(name)) return;
    // One day longer than the entries: the expiry is that of the day's first recorded hour.
    const expiresAt = toExpiry(new Date(hour), HISTORY_DAYS + 1);
    const set = { orgId, webhookId, generation, expiresAt, ...buildSandboxMark(entry) };
    await update(ledger, key, { update: expression`SET ${assign(set)}` });
    noted.set(name, true);
  }

  return {
    /**
     * Adds to an entry's counts and records the shard's position in one write, so that a stream record that
     * is read twice counts once.
     * @returns the recorded position, when the part was counted before and nothing is added
     */
    async add(
      { shardId, first, last }: StreamPart,
      entry: LedgerAddition,
    ): Promise<'added' | { countedTo: string }> {
      const { orgId, webhookId, generation, hour } = entry;
      const counted = buildPositionAttribute(shardId);
      // Before the counts, so that a ledger audit finds every counted entry.
      await noteActive(entry);
      const set = {
        orgId,
        webhookId,
        generation,
        hour,
        expiresAt: toExpiry(new Date(hour), HISTORY_DAYS),
        [counted]: packSequence(last),
        ...buildSandboxMark(entry),
      };
      const { kind, row } = await update(ledger, keys.ledger(webhookId, generation, hour), {
        update: expression`SET ${assign(set)} ADD ${increase(listAdditions(entry))}`,
        if: expression`attribute_not_exists(${attribute(counted)}) OR ${attribute(counted)} < ${packSequence(first)}`,
      });
      if (kind === 'done') return 'added';
      const position = row?.[counted];
      return { countedTo: typeof position === 'string' ? unpackSequence(position) : last };
    },

    /** Reads an endpoint's counts in a range of hours, in no order, without hours that have no deliveries. */
    async read(endpoint: ReceiverId, generation: number, { first, last }: HourRange): Promise<LedgerEntry[]> {
      const where = expression`pk = ${keys.ledgerOf(endpoint, generation)} AND sk BETWEEN ${first} AND ${last}`;
      return readRows(ledger, await queryAll(ledger, { where, consistent: false }), parse);
    },

    /** Reads the entries of an hour, one page of one shard at a time. */
    async inHour(hour: string, shard: number, after?: Row): Promise<{ entries: LedgerEntry[]; next?: Row }> {
      const page = await query(ledger, {
        where: expression`pk = ${keys.activeInDay(hour, shard)}`,
        consistent: false,
        limit: ACTIVE_PAGE,
        after,
      });
      const active = readRows(ledger, page.rows, (row) => Active.parse(row));
      const rows = await getMany(
        ledger,
        active.map(({ webhookId, generation }) => keys.ledger(webhookId, generation, hour)),
      );
      return { entries: readRows(ledger, rows, parse), ...(page.next && { next: page.next }) };
    },

    /** Corrects the counts unless they changed since they were read. */
    async correct(seen: LedgerEntry, counts: LedgerCounts): Promise<'corrected' | 'changed'> {
      const names = COUNTS.filter((name) => name in counts);
      const { kind } = await update(ledger, keys.ledger(seen.webhookId, seen.generation, seen.hour), {
        update: expression`SET ${assign(Object.fromEntries(names.map((name) => [name, counts[name]])))}`,
        if: unchanged(seen, names),
      });
      return kind === 'done' ? 'corrected' : 'changed';
    },
  };
}

/*
 * Positions are short, because an entry has one of each shard that it counts, and is written for one unit up
 * to 1 KB.
 */

/** Digits to base 36, of which 26 hold the maximum of 40 decimal ones: text order is numeric order. */
const RADIX = 36;
const packSequence = (sequence: string): string => BigInt(sequence).toString(RADIX).padStart(26, '0');
const unpackSequence = (packed: string): string =>
  [...packed]
    .reduce((sum, digit) => sum * BigInt(RADIX) + BigInt(Number.parseInt(digit, RADIX)), 0n)
    .toString();

const buildPositionAttribute = (shardId: string): string =>
  `to_${createHash('sha256').update(shardId).digest('base64url').slice(0, 8)}`;

const COUNTS = [
  'owed',
  'succeeded',
  'exhausted',
  'skipped',
  'duplicates',
] as const satisfies readonly (keyof LedgerCounts)[];

/** The deliveries of an endpoint and hour, against which the ledger is checked. */
export function deliveriesInHour(deliveries: Table) {
  return async (
    { webhookId, generation, hour }: Pick<LedgerEntry, 'webhookId' | 'generation' | 'hour'>,
    shard: number,
    after?: Row,
  ): Promise<{ deliveries: Delivery[]; isComplete: boolean; next?: Row }> => {
    const [from, to] = buildIdBounds(new Date(hour), toEndOfHour(hour));
    const pk = keys.deliveries(webhookId, generation, shard);
    const where = expression`pk = ${pk} AND sk BETWEEN ${from} AND ${to}`;
    const { rows, next } = await query(deliveries, { where, after });
    const readable = readRows(deliveries, rows, parseDelivery);
    return { deliveries: readable, isComplete: readable.length === rows.length, ...(next && { next }) };
  };
}

type ReadHours = (endpoint: ReceiverId, generation: number, hours: HourRange) => Promise<LedgerEntry[]>;

/** Hours after which an hour can be finished: all attempts of its deliveries span little more than one. */
const SETTLED_HOURS = 3;
/** Maximum age of cached counts: a late stream record or the ledger audit can still change them. */
const FRESH_MS = 10 * 60_000;
/** Maximum number of cached endpoints, some 50 KB each. */
const MAX_ENDPOINTS = 200;

/**
 * Caches finished hours, so that an instance reads only the last few hours again. An hour is finished when it
 * began over three hours ago and neither it nor an earlier hour has open deliveries.
 */
export function keepFinishedHours(read: ReadHours) {
  const kept = new TimedCache<string, { first: string; next: string; entries: LedgerEntry[] }>({
    capacity: MAX_ENDPOINTS,
    freshMs: FRESH_MS,
  });

  /** @param hours up to the current one */
  return async (
    endpoint: ReceiverId,
    generation: number,
    { first, last }: HourRange,
    now: Date,
  ): Promise<LedgerEntry[]> => {
    const key = `${endpoint}#${generation}`;
    const cached = kept.get(key, now);
    if (cached !== undefined && cached.first <= first) {
      const finished = cached.entries.filter(({ hour }) => hour >= first);
      const rest = { first: first > cached.next ? first : cached.next, last };
      return [...finished, ...(await read(endpoint, generation, rest))];
    }
    const entries = await read(endpoint, generation, { first, last });
    const open = entries.filter((entry) => countOpen(entry) > 0).map(({ hour }) => hour);
    const [next = first] = [getHourBefore(now, SETTLED_HOURS), ...open].sort();
    kept.set(key, { first, next, entries: entries.filter(({ hour }) => hour < next) }, now);
    return entries;
  };
}
