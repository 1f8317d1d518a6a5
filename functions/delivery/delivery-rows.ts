import {
  all,
  assign,
  attributes,
  type Expression,
  expression,
  isOneOf,
  unchanged,
} from '../aws/expression.ts';
import {
  isFree,
  isHeld,
  type Key,
  parseReadable,
  query,
  type Row,
  type Table,
  type UnreadableRow,
  update,
} from '../aws/table.ts';
import type { AttemptError } from '../receivers/attempt-error.ts';
import type { Turn } from '../receivers/endpoint-rate.ts';
import { DUE_END, DUE_INDEX, type DueState, keys } from '../tenancy/keys.ts';
import {
  type ClaimedDelivery,
  type Delivery,
  DeliveryMessage,
  type DeliveryRef,
  OPEN_STATUSES,
  type Settlement,
  type SkipReason,
} from './delivery.ts';

/*
 * Updates of delivery rows, and the due index, whose attributes are in the same rows.
 */

/** A delivery with the organization by which the due index is sorted. */
export type DueRef = DeliveryRef & Pick<Delivery, 'orgId'>;

/**
 * `dueAt`: a parked delivery's next attempt, or the time from which a watched delivery's message counts as
 * lost.
 */
export interface DueEntry {
  message: DeliveryMessage;
  state: DueState;
  dueAt: string;
  /**
   * Its message was deferred at the last check. A deferred delivery does not expire before its message was
   * resent.
   */
  isDeferred?: true;
}

/** Why an entry moves: its message was resent, or deferred while a queue has a long backlog. */
export type PostponeReason = 'sent' | 'deferred';

export const buildDeliveryKey = (ref: DeliveryRef) => keys.delivery(ref.webhookId, ref.generation, ref.id);

/** An update of a delivery, which is open. */
export interface DeliveryUpdate {
  key: Key;
  update: Expression;
  if: Expression;
}

const IS_OPEN = isOneOf('status', OPEN_STATUSES);
const isDue = (now: Date) =>
  expression`(attribute_not_exists(nextRetryAt) OR nextRetryAt <= ${now.toISOString()})`;
const IS_NOT_DEFERRED = expression`attribute_not_exists(isDeferred)`;

/** Puts a delivery into the due index, or moves it there. */
const buildPlace = (state: DueState, { id, orgId }: Pick<DueRef, 'id' | 'orgId'>, dueAt: Date) => ({
  dueIn: keys.dueOf(state, id),
  dueKey: keys.dueKey(orgId, dueAt.toISOString()),
});

const isUnmoved = ({ message: { id, orgId }, state, dueAt }: DueEntry) =>
  unchanged({ dueIn: keys.dueOf(state, id), dueKey: keys.dueKey(orgId, dueAt) }, ['dueIn', 'dueKey']);

/** Removed when a delivery ends; the first two are the keys of the due index. */
const DUE_FIELDS = ['dueIn', 'dueKey', 'parked', 'isDeferred', 'turn'];
const REMOVE_ENDED = expression`REMOVE ${attributes(['lease', 'nextRetryAt', ...DUE_FIELDS])}`;

/**
 * Every update of a delivery is built here, and refused for one that has ended: a terminal delivery never
 * changes.
 */
const buildOpenUpdate = (
  ref: DeliveryRef,
  update: Expression,
  ...conditions: (Expression | undefined)[]
): DeliveryUpdate => ({ key: buildDeliveryKey(ref), update, if: all(IS_OPEN, ...conditions) });

/** Makes the next attempt of a retrying delivery due, unless it changed since it was read. */
export const buildRetryUpdate = (delivery: Delivery, now: Date): DeliveryUpdate =>
  buildOpenUpdate(
    delivery,
    expression`SET nextRetryAt = ${now.toISOString()}`,
    expression`#status = ${'retrying'} AND attempts = ${delivery.attempts}`,
    isFree(now),
  );

/** Terms of the lease of an open, due delivery with attempts left, which counts the attempt. */
export const buildClaim = (ref: DeliveryRef, now: Date, maxAttempts: number) => ({
  key: buildDeliveryKey(ref),
  add: expression`attempts ${1}`,
  if: all(IS_OPEN, isDue(now), expression`attempts < ${maxAttempts}`),
});

/**
 * Records an attempt while the claim's lease holds.
 * @param graceSeconds seconds past due after which the next attempt's message counts as lost
 */
export function buildSettleUpdate(
  claimed: ClaimedDelivery,
  settlement: Settlement,
  graceSeconds: number,
): DeliveryUpdate {
  const { attempt, kind, at } = settlement;
  const removes = ['lease'];
  const set: Record<string, unknown> = { status: kind };
  if (kind !== 'succeeded')
    Object.assign(set, { lastError: attempt.error, lastErrorCode: attempt.errorCode });
  if (attempt.status !== undefined) set.lastResponseStatus = attempt.status;
  // The last attempt got no answer, so an earlier status no longer applies.
  else removes.push('lastResponseStatus');
  if (kind === 'retrying') {
    // Keep `isDeferred`: the reconciler removes it when it sends the message.
    const { nextRetryAt, wait } = settlement;
    set.nextRetryAt = nextRetryAt.toISOString();
    if (claimed.turn !== undefined) removes.push('turn');
    const isParked = wait.hold === 'parked';
    if (isParked) set.parked = true;
    else removes.push('parked');
    const dueAt = isParked ? nextRetryAt : new Date(nextRetryAt.getTime() + graceSeconds * 1000);
    Object.assign(set, buildPlace(isParked ? 'parked' : 'watched', claimed, dueAt));
  } else {
    Object.assign(set, { terminalAt: at.toISOString(), terminalReason: settlement.terminalReason });
    removes.push('nextRetryAt', ...DUE_FIELDS);
  }
  return buildOpenUpdate(
    claimed,
    expression`SET ${assign(set)}, attemptLog = list_append(attemptLog, ${[attempt]}) REMOVE ${attributes(removes)}`,
    isHeld(claimed.lease),
    expression`lease.#until > ${at.getTime()}`,
  );
}

export type KeptTurn = { turn: Turn; until: Date; isParked: boolean; now: Date };

/** Lets an open, unleased, due delivery wait for its turn at its endpoint, with or without a message. */
export function buildTurnUpdate(ref: DueRef, { turn, until, isParked, now }: KeptTurn): DeliveryUpdate {
  const place = isParked ? { parked: true, ...buildPlace('parked', ref, until) } : {};
  const set = assign({ turn, nextRetryAt: until.toISOString(), ...place });
  return buildOpenUpdate(ref, expression`SET ${set}`, isFree(now), isDue(now));
}

/** Ends a delivery whose last attempt was started and never settled. */
export function buildExhaustUpdate(
  ref: DeliveryRef,
  { error, errorCode }: AttemptError,
  maxAttempts: number,
  now: Date,
): DeliveryUpdate {
  const set = assign({
    status: 'exhausted',
    terminalAt: now.toISOString(),
    terminalReason: 'max_attempts',
    lastError: error,
    lastErrorCode: errorCode,
  });
  const isSpent = expression`attempts >= ${maxAttempts}`;
  return buildOpenUpdate(ref, expression`SET ${set} ${REMOVE_ENDED}`, isFree(now), isSpent);
}

/**
 * Ends an open, unleased delivery without an attempt. It does not expire while its message is deferred: it
 * was not lost, and is sent once more.
 */
export function buildSkipUpdate(
  ref: DeliveryRef,
  reason: SkipReason,
  now: Date,
  condition?: Expression,
): DeliveryUpdate {
  const set = assign({ status: 'skipped', terminalAt: now.toISOString(), terminalReason: reason });
  const isNotDeferred = reason === 'expired' ? IS_NOT_DEFERRED : undefined;
  return buildOpenUpdate(ref, expression`SET ${set} ${REMOVE_ENDED}`, isFree(now), isNotDeferred, condition);
}

/** Rows of a page; small enough that a run can end between two pages. */
const PAGE = 100;
/** Of an organization on a page of all: a batch of a queue. */
const SHARE = 10;

/** A range of a partition: of all organizations, or of one. */
export type DueRange = { first: string; last: string; isOfOne: boolean; after?: Row };

/**
 * Sparse index of deliveries for the reconciler, sorted by organization and then by time: a read skips the
 * organizations that it has seen, however much they have waiting
 * (docs/decisions/0034-turns-by-organization.md).
 */
export function dueIndex(deliveries: Table) {
  const apply = ({ key, ...change }: DeliveryUpdate, isDone?: (row: Row) => boolean) =>
    update(deliveries, key, { ...change, ...(isDone && { isDone }) });

  return {
    /** Adds an open delivery whose message counts as lost from `dueAt`, unless it has an entry. */
    async watch(ref: DueRef, dueAt: Date): Promise<void> {
      const set = assign(buildPlace('watched', ref, dueAt));
      await apply(buildOpenUpdate(ref, expression`SET ${set}`, expression`attribute_not_exists(dueIn)`));
    },

    /** Moves an entry's due time. Does nothing when the entry has moved since it was read. */
    async postpone(entry: DueEntry, until: Date, reason: PostponeReason = 'sent'): Promise<void> {
      const { message } = entry;
      const isDeferred = reason === 'deferred';
      const set = assign({ ...buildPlace('watched', message, until), ...(isDeferred && { isDeferred }) });
      const removes = attributes(['parked', ...(isDeferred ? [] : ['isDeferred'])]);
      await apply(buildOpenUpdate(message, expression`SET ${set} REMOVE ${removes}`, isUnmoved(entry)));
    },

    /**
     * Ends an open, unleased delivery as expired. Refused when its entry moved: a message may be in flight.
     */
    async expire(entry: DueEntry, now: Date): Promise<'done' | 'refused'> {
      const skipped = buildSkipUpdate(entry.message, 'expired', now, isUnmoved(entry));
      return (await apply(skipped, ({ terminalAt }) => terminalAt === now.toISOString())).kind;
    },

    /**
     * Entries of a shard due by `until`: a share of each organization, its earliest first. Eventually
     * consistent, like every index.
     * @param position where a page continues with further organizations, or with more of one
     * @returns `next` for further organizations, and `more` for those that have more than their share
     */
    async find(
      state: DueState,
      shard: number,
      until: Date,
      position: DueRange = ALL,
    ): Promise<{ entries: DueEntry[]; unreadable: UnreadableRow[]; next?: DueRange; more: DueRange[] }> {
      const { first, last, isOfOne, after } = position;
      const page = await query(deliveries, {
        index: DUE_INDEX,
        where: expression`dueIn = ${keys.due(state, shard)} AND dueKey BETWEEN ${first} AND ${last}`,
        limit: PAGE,
        after,
      });
      const lastOrganization = page.next && splitDueKey(page.next.dueKey).orgId;
      const shares: Row[] = [];
      const more: DueRange[] = [];
      for (const [orgId, rows] of Map.groupBy(page.rows, ({ dueKey }) => splitDueKey(dueKey).orgId)) {
        const end = keys.dueKey(orgId, until.toISOString());
        const due = rows.filter(({ dueKey }) => String(dueKey) <= end);
        const share = isOfOne ? due : due.slice(0, SHARE);
        shares.push(...share);
        const isCut = orgId === lastOrganization && due.length === rows.length;
        const lastTaken = share.at(-1);
        if (lastTaken !== undefined && (isCut || share.length < due.length))
          more.push({
            first: keys.dueKey(orgId, ''),
            last: end,
            isOfOne: true,
            after: toPosition(lastTaken),
          });
      }
      const parsed = parseReadable(shares, (row) => ({
        message: DeliveryMessage.parse({ ...row, id: row.sk }),
        state,
        dueAt: splitDueKey(row.dueKey).dueAt,
        ...(row.isDeferred === true ? { isDeferred: true as const } : {}),
      }));
      const next = isOfOne ? undefined : lastOrganization;
      return { ...parsed, more, ...(next && { next: { ...ALL, first: `${next}${DUE_END}` } }) };
    },
  };
}

const ALL: DueRange = { first: '#', last: '~', isOfOne: false };

const toPosition = ({ pk, sk, dueIn, dueKey }: Row): Row => ({ pk, sk, dueIn, dueKey });

function splitDueKey(dueKey: unknown): { orgId: string; dueAt: string } {
  const [orgId = '', dueAt = ''] = String(dueKey).split('#');
  return { orgId, dueAt };
}
