import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { BoundedMap } from '../aws/cache.ts';
import { assign, attribute, expression, increase, unchanged } from '../aws/expression.ts';
import { buildIdBounds, OrgId, parseCreationTime, ReceiverId, Timestamp } from '../aws/ids.ts';
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
import { type AttemptRecord, type Delivery, isOpen, mapTerminalStatuses } from './delivery.ts';
import { parseDelivery } from './rows.ts';

/**
 * Attempts by their duration: the number of a class and how many attempts it has. Class `n` ends at the
 * `n`-th power of the square root of 2, in milliseconds. The first one begins at 0, the last one has no end.
 */
export const AttemptDurations = z.record(z.string(), z.int());
export type AttemptDurations = z.infer<typeof AttemptDurations>;

/** Up to 8 ms, and from 8.2 s: a receiver has 10. Few, because each is an attribute of an item below 1 KB. */
const [FIRST_CLASS, LAST_CLASS] = [6, 27];
export const DURATION_CLASSES = /* @__PURE__ */ Array.from(
  { length: LAST_CLASS - FIRST_CLASS + 1 },
  (_, index) => String(FIRST_CLASS + index),
);

function findClass(durationMs: number): string {
  const number = Math.ceil(2 * Math.log2(Math.max(1, durationMs)));
  return String(Math.min(LAST_CLASS, Math.max(FIRST_CLASS, number)));
}

export const addDurations = (a: AttemptDurations = {}, b: AttemptDurations = {}): AttemptDurations => {
  const sum = { ...a };
  for (const [number, count] of Object.entries(b)) sum[number] = (sum[number] ?? 0) + count;
  return sum;
};

export const countDurations = (attempts: readonly Pick<AttemptRecord, 'durationMs'>[]): AttemptDurations =>
  attempts.reduce((sum, { durationMs }) => addDurations(sum, { [findClass(durationMs)]: 1 }), {});

/**
 * Counts of an endpoint's deliveries, by the hour of their creation. Once all have ended, `owed` is the sum
 * of the terminal statuses.
 */
export const LedgerCounts = z.object({
  owed: z.int(),
  .../* @__PURE__ */ mapTerminalStatuses(() => z.int()),
  /** Attempts whose outcome was lost; the receiver may have got the event once more. */
  duplicates: z.int(),
});
export type LedgerCounts = z.infer<typeof LedgerCounts>;
const COUNTS = /* @__PURE__ */ Object.keys(LedgerCounts.shape) as (keyof LedgerCounts)[];
const mapCounts = (count: (name: keyof LedgerCounts) => number) =>
  Object.fromEntries(COUNTS.map((name) => [name, count(name)])) as LedgerCounts;

export const LedgerEntry = z.extend(LedgerCounts, {
  /** Absent in entries written before it was recorded. */
  orgId: z.optional(OrgId),
  webhookId: ReceiverId,
  generation: z.int(),
  /** Start of the hour, UTC. */
  hour: Timestamp,
  /** Attempts of the deliveries that have ended. Absent in entries written before they were counted. */
  durations: z.optional(AttemptDurations),
});
export type LedgerEntry = z.infer<typeof LedgerEntry>;

export const NO_COUNTS = /* @__PURE__ */ mapCounts(() => 0);

/** A change in the deliveries' stream. One record can be both `added` and `ended`. */
export interface DeliveryChange {
  kind: 'added' | 'ended';
  delivery: Delivery;
}

const MS_PER_HOUR = 3_600_000;

/** The hour that a delivery counts for: that of its id, so that a recount finds it by key. */
export const getLedgerHour = ({ id }: Pick<Delivery, 'id'>): string => toStartOfHour(parseCreationTime(id));

export const toStartOfHour = (time: Date): string =>
  new Date(Math.floor(time.getTime() / MS_PER_HOUR) * MS_PER_HOUR).toISOString();

export const toEndOfHour = (hour: string): Date => new Date(new Date(hour).getTime() + MS_PER_HOUR);

export const getHourBefore = (time: Date, hours: number): string =>
  toStartOfHour(new Date(time.getTime() - hours * MS_PER_HOUR));

/** First and last hour, both included, by their start. */
export interface HourRange {
  first: string;
  last: string;
}

/** @returns the last `count` hours, the current one included */
export const getLatestHours = (now: Date, count: number): HourRange => ({
  first: getHourBefore(now, count - 1),
  last: toStartOfHour(now),
});

export const countOpen = (counts: LedgerCounts): number =>
  Object.values(mapTerminalStatuses((status) => counts[status])).reduce((open, n) => open - n, counts.owed);

export const addCounts = (a: LedgerCounts, b: LedgerCounts): LedgerCounts =>
  mapCounts((name) => a[name] + b[name]);

/** A delivery to a disabled endpoint is added as skipped and does not change again. */
export function toCounts({ kind, delivery }: DeliveryChange): LedgerCounts {
  const { attempts, attemptLog } = delivery;
  return {
    owed: kind === 'added' ? 1 : 0,
    ...mapTerminalStatuses((status) => (delivery.status === status ? 1 : 0)),
    duplicates: isOpen(delivery) ? 0 : Math.max(0, attempts - attemptLog.length),
  };
}

/** Key of the entry that counts a delivery. */
export const buildEntryKey = (delivery: Pick<Delivery, 'id' | 'webhookId' | 'generation'>): string =>
  `${delivery.webhookId}#${delivery.generation}#${getLedgerHour(delivery)}`;

export type LedgerAddition = LedgerEntry & { orgId: OrgId };

/** Sums changes by endpoint, generation and hour. */
export function sumChanges(changes: readonly DeliveryChange[]): LedgerAddition[] {
  const entries = new Map<string, LedgerAddition>();
  for (const change of changes) {
    const { orgId, webhookId, generation, attemptLog } = change.delivery;
    const key = buildEntryKey(change.delivery);
    const before = entries.get(key);
    const attempts = isOpen(change.delivery) ? [] : attemptLog;
    const durations = addDurations(before?.durations, countDurations(attempts));
    entries.set(key, {
      ...addCounts(before ?? NO_COUNTS, toCounts(change)),
      ...(Object.keys(durations).length > 0 && { durations }),
      orgId,
      webhookId,
      generation,
      hour: getLedgerHour(change.delivery),
    });
  }
  return [...entries.values()];
}

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
const listAdditions = ({ durations = {}, ...entry }: LedgerAddition): Record<string, number> => ({
  ...mapCounts((name) => entry[name]),
  ...Object.fromEntries(
    Object.entries(durations).map(([number, count]) => [buildDurationAttribute(number), count]),
  ),
});

/** Records that an endpoint has counts on a day. */
const Active = z.pick(LedgerEntry, { webhookId: true, generation: true });

/** Counts by endpoint and hour. Each entry has, per stream shard, the position up to which it counts. */
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
     * is read twice counts once. The part of the shard is given by its first and last sequence numbers.
     * @returns the recorded position, when the part was counted before and nothing is added
     */
    async add(
      { shardId, first, last }: { shardId: string; first: string; last: string },
      entry: LedgerAddition,
    ): Promise<'added' | { countedTo: string }> {
      const { orgId, webhookId, generation, hour } = entry;
      const counted = buildPositionAttribute(shardId);
      // Before the counts, so that a ledger audit finds every counted entry.
      await noteActive(entry);
      const position = { [counted]: packSequence(last), expiresAt: toExpiry(new Date(hour), HISTORY_DAYS) };
      const set = { orgId, webhookId, generation, hour, ...position, ...buildSandboxMark(entry) };
      const { kind, row } = await update(ledger, keys.ledger(webhookId, generation, hour), {
        update: expression`SET ${assign(set)} ADD ${increase(listAdditions(entry))}`,
        if: expression`attribute_not_exists(${attribute(counted)}) OR ${attribute(counted)} < ${packSequence(first)}`,
      });
      if (kind === 'done') return 'added';
      const stored = row?.[counted];
      return { countedTo: typeof stored === 'string' ? unpackSequence(stored) : last };
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
        limit: BATCH,
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
      const { kind } = await update(ledger, keys.ledger(seen.webhookId, seen.generation, seen.hour), {
        update: expression`SET ${assign(mapCounts((name) => counts[name]))}`,
        if: unchanged(seen, COUNTS),
      });
      return kind === 'done' ? 'corrected' : 'changed';
    },
  };
}

/**
 * Positions are short, because an entry has one of each shard, and is written for one unit up to 1 KB: digits
 * to base 36, of which 26 hold the maximum of 40 decimal ones. Text order is numeric order.
 */
const RADIX = 36;
const packSequence = (sequence: string): string => BigInt(sequence).toString(RADIX).padStart(26, '0');
const unpackSequence = (packed: string): string =>
  [...packed]
    .reduce((sum, digit) => sum * BigInt(RADIX) + BigInt(Number.parseInt(digit, RADIX)), 0n)
    .toString();

const buildPositionAttribute = (shardId: string): string =>
  `to_${createHash('sha256').update(shardId).digest('base64url').slice(0, 8)}`;

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
