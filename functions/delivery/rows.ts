import * as z from 'zod/mini';
import { all, assign, attributes, type Expression, expression, isOneOf } from '../aws/expression.ts';
import { type DeliveryId, parseCreationTime, type ReceiverId } from '../aws/ids.ts';
import { Defect } from '../aws/logger.ts';
import { type Page, type PageRequest, readPage } from '../aws/pages.ts';
import {
  get,
  getMany,
  IS_NEW,
  isFree,
  type Key,
  lease,
  put,
  type Row,
  readRows,
  type Table,
  toExpiry,
  update,
} from '../aws/table.ts';
import { buildAddition, buildUpdate, type Change } from '../aws/transaction.ts';
import { HISTORY_DAYS } from '../events/events.ts';
import { buildSandboxMark, DELIVERY_SHARDS, type DueState, keys, listShards } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import {
  Delivery,
  type DeliveryRef,
  type DeliveryStatus,
  type DueRef,
  isOpen,
  OPEN_STATUSES,
  type SkipReason,
  type Turn,
} from './delivery.ts';
import { EXPIRY_SECONDS, RECONCILE_LOOKAHEAD_SECONDS } from './timing.ts';

export const buildDeliveryKey = (ref: DeliveryRef) => keys.delivery(ref.webhookId, ref.generation, ref.id);

/**
 * Parses a row of the table or of its stream.
 * @throws a zod error when it is not a delivery
 */
export const parseDelivery = (row: unknown): Delivery => Delivery.parse(row);

const toRow = (delivery: Delivery) => ({
  ...buildDeliveryKey(delivery),
  ...buildSandboxMark(delivery),
  ...delivery,
  expiresAt: toExpiry(new Date(delivery.createdAt), HISTORY_DAYS),
});

/** What a redelivery job reads of its deliveries, often: not the log of their attempts. */
const DeliveryState = z.pick(Delivery, {
  ...{ id: true, eventId: true, status: true, terminalReason: true, redeliveryOf: true },
});
export type DeliveryState = z.infer<typeof DeliveryState>;
const STATE_ATTRIBUTES = ['pk', 'sk', ...Object.keys(DeliveryState.shape)];

/** All conditions must hold. */
export interface DeliveryFilter {
  status?: readonly DeliveryStatus[] | undefined;
  eventType?: readonly Delivery['eventType'][] | undefined;
  /** Range of creation times, as in the ids, which carry 48 bits of them; `to` is exclusive. */
  from?: Date | undefined;
  to?: Date | undefined;
}

export type DeliveryStore = ReturnType<typeof deliveryStore>;

/** Creates deliveries, reads them by id and lists them. */
export function deliveryStore(deliveries: Table) {
  async function findStates(refs: readonly DeliveryRef[], consistent: boolean) {
    const options = { consistent, attributes: STATE_ATTRIBUTES };
    const rows = await getMany(deliveries, refs.map(buildDeliveryKey), options);
    return readRows(deliveries, rows, (row) => DeliveryState.parse(row));
  }

  return {
    async find(ref: DeliveryRef): Promise<Delivery | undefined> {
      const row = await get(deliveries, buildDeliveryKey(ref));
      return row && parseDelivery(row);
    },

    /**
     * States of the deliveries that exist.
     * @param refs without repetition
     * @throws Throttled when DynamoDB keeps returning unprocessed keys
     */
    async states(refs: readonly DeliveryRef[]): Promise<Map<DeliveryId, DeliveryState>> {
      return new Map((await findStates(refs, true)).map((state) => [state.id, state]));
    },

    /**
     * Returns those that wait for the end of their first attempt. Eventually consistent, so the caller asks
     * again; one that cannot be read yet counts as waiting.
     * @param refs without repetition
     * @throws Throttled when DynamoDB keeps returning unprocessed keys
     */
    async listWaiting<T extends DeliveryRef>(refs: readonly T[]): Promise<T[]> {
      const states = await findStates(refs, false);
      const begun = new Set(states.flatMap(({ id, status }) => (status === 'pending' ? [] : [id])));
      return refs.filter(({ id }) => !begun.has(id));
    },

    /**
     * Those deliveries that exist, in no order.
     * @param refs without repetition
     * @throws Throttled when DynamoDB keeps returning unprocessed keys
     */
    async findAll(refs: readonly DeliveryRef[], { consistent = true } = {}): Promise<Delivery[]> {
      const rows = await getMany(deliveries, refs.map(buildDeliveryKey), { consistent });
      return readRows(deliveries, rows, parseDelivery);
    },

    list(
      { generation }: Tenant,
      endpoint: ReceiverId,
      page: PageRequest,
      { status, eventType, from = new Date(0), to = new Date(2 ** 48 - 1) }: DeliveryFilter = {},
    ): Promise<Page<Delivery>> {
      const shards = listShards(DELIVERY_SHARDS);
      const partitions = shards.map((shard) => keys.deliveries(endpoint, generation, shard));
      const times = { prefix: 'dlv', from, to } as const;
      const listing = { parse: parseDelivery, times, wanted: { status, eventType } };
      return readPage(deliveries, partitions, page, listing);
    },

    /** Adds a delivery unless it exists, for example after a replayed batch. */
    async add(delivery: Delivery): Promise<'added' | 'exists'> {
      const { kind } = await put(deliveries, toRow(delivery), { if: IS_NEW });
      return kind === 'done' ? 'added' : 'exists';
    },

    /** Makes the next attempt of a retrying delivery due; refused as `delivery-changed` since it was read. */
    buildRetry(delivery: Delivery, now: Date): Change {
      const { key, ...change } = buildOpenUpdate(
        delivery,
        expression`SET nextRetryAt = ${now.toISOString()} REMOVE nextRetryReason`,
        [expression`#status = ${'retrying'} AND attempts = ${delivery.attempts}`, isFree(now)],
      );
      return buildUpdate(deliveries, key, { refusal: 'delivery-changed', ...change });
    },

    adding(delivery: Delivery): Change {
      return buildAddition(deliveries, toRow(delivery));
    },
  };
}

const IS_OPEN = isOneOf('status', OPEN_STATUSES);
const IS_NOT_DEFERRED = expression`attribute_not_exists(isDeferred)`;
/** Of a delivery that waits for nothing. */
const isDue = (now: Date) =>
  expression`(attribute_not_exists(nextRetryAt) OR nextRetryAt <= ${now.toISOString()})`;

/** Whether a delivery can be claimed now, and why not. */
export type Claimability =
  | { kind: 'absent' }
  | { kind: 'terminal' }
  | { kind: 'leased'; until: Date }
  /** `parked` when its queue message is to be dropped. */
  | { kind: 'not-due'; at: Date; parked: boolean }
  /** All attempts were started, and the last one was never settled. */
  | { kind: 'spent' }
  | { kind: 'claimable' };

/**
 * Applies the rules of the condition of `claim` to a row.
 * @param delivery undefined when there is none
 */
export function getClaimability(
  delivery: Delivery | undefined,
  now: Date,
  maxAttempts: number,
): Claimability {
  if (delivery === undefined) return { kind: 'absent' };
  if (!isOpen(delivery)) return { kind: 'terminal' };
  if (delivery.lease !== undefined && delivery.lease.until > now.getTime())
    return { kind: 'leased', until: new Date(delivery.lease.until) };
  const at = new Date(delivery.nextRetryAt ?? 0);
  // A message of a parked delivery is a leftover, unless it arrives within the reconciler's lookahead: then
  // the reconciler has sent it and not yet recorded that.
  const isSoon = at.getTime() - now.getTime() <= RECONCILE_LOOKAHEAD_SECONDS * 1000;
  if (at > now) return { kind: 'not-due', at, parked: delivery.parked === true && !isSoon };
  return delivery.attempts >= maxAttempts ? { kind: 'spent' } : { kind: 'claimable' };
}

/** Puts a delivery into the due index, or moves it there. */
export const buildPlace = (state: DueState, { id, orgId }: Pick<DueRef, 'id' | 'orgId'>, dueAt: Date) => ({
  dueIn: keys.dueOf(state, id),
  dueKey: keys.dueKey(orgId, dueAt.toISOString()),
});

/** Removed when a delivery ends; the first two are the keys of the due index. */
export const DUE_FIELDS = ['dueIn', 'dueKey', 'parked', 'isDeferred', 'turn', 'nextRetryReason'];
export const REMOVE_ENDED = expression`REMOVE ${attributes(['lease', 'nextRetryAt', ...DUE_FIELDS])}`;

export const isExpired = ({ id }: Pick<Delivery, 'id'>, now: Date): boolean =>
  now.getTime() - parseCreationTime(id).getTime() > EXPIRY_SECONDS * 1000;

/** An update of an open delivery. */
export interface DeliveryUpdate {
  key: Key;
  update: Expression;
  if: Expression;
  /** Whether a row shows the update. */
  isDone?: (row: Row) => boolean;
}

export const updateDelivery = async (deliveries: Table, { key, ...change }: DeliveryUpdate) =>
  (await update(deliveries, key, change)).kind;

/**
 * Every update of a delivery is built here, and refused for one that has ended: a terminal delivery never
 * changes.
 */
export const buildOpenUpdate = (
  ref: DeliveryRef,
  change: Expression,
  conditions: readonly (Expression | undefined)[],
  isDone?: DeliveryUpdate['isDone'],
): DeliveryUpdate => ({
  key: buildDeliveryKey(ref),
  update: change,
  if: all(IS_OPEN, ...conditions),
  ...(isDone && { isDone }),
});

/** A time for an attempt that its delivery keeps: until its message comes, or until it is resumed. */
export type KeptTurn = { turn: Turn; until: Date; isParked: boolean; now: Date };

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
  const terminalAt = now.toISOString();
  return buildOpenUpdate(
    ref,
    expression`SET ${assign({ status: 'skipped', terminalAt, terminalReason: reason })} ${REMOVE_ENDED}`,
    [isFree(now), reason === 'expired' ? IS_NOT_DEFERRED : undefined, condition],
    (row) => row.terminalAt === terminalAt,
  );
}

/** Ends an open delivery of an erased conversation; an attempt in progress can no longer settle it. */
export function buildErasedUpdate(ref: DeliveryRef, now: Date): DeliveryUpdate {
  const set = { status: 'skipped', terminalAt: now.toISOString(), terminalReason: 'erased' };
  return buildOpenUpdate(ref, expression`SET ${assign(set)} ${REMOVE_ENDED}`, []);
}

export type DeliveryMoves = ReturnType<typeof deliveryMoves>;

/**
 * State changes of deliveries before and between attempts. Each is one conditional write that names its valid
 * prior states, so only one of two workers succeeds.
 */
export function deliveryMoves(deliveries: Table) {
  return {
    /**
     * Claims a delivery for one attempt and counts the attempt, before the request is sent.
     * @param leaseSeconds duration of the claim
     */
    async claim(
      ref: DeliveryRef,
      { now, leaseSeconds, maxAttempts }: { now: Date; leaseSeconds: number; maxAttempts: number },
    ) {
      const claimed = await lease(deliveries, buildDeliveryKey(ref), {
        now,
        seconds: leaseSeconds,
        add: expression`attempts ${1}`,
        // The rules of `getClaimability`; the lease adds that none holds.
        if: all(IS_OPEN, isDue(now), expression`attempts < ${maxAttempts}`),
      });
      // The row that refused the claim, because a later read could return a later state.
      const delivery = claimed.row && parseDelivery(claimed.row);
      if (claimed.kind === 'leased' && delivery)
        return { kind: 'claimed' as const, delivery: { ...delivery, lease: claimed.lease } };
      const claimability = getClaimability(delivery, now, maxAttempts);
      if (claimability.kind !== 'claimable') return claimability;
      throw new Defect(`the claim of ${ref.id} was refused although its row allows it`);
    },

    /**
     * Keeps the time of an open, unleased, due delivery's next attempt, until its message comes or the
     * reconciler resumes it.
     */
    async keepTurn(ref: DueRef, { turn, until, isParked, now }: KeptTurn): Promise<'done' | 'refused'> {
      const nextRetryAt = until.toISOString();
      const place = isParked ? { parked: true, ...buildPlace('parked', ref, until) } : {};
      const change = buildOpenUpdate(
        ref,
        expression`SET ${assign({ turn, nextRetryAt, ...place })} REMOVE nextRetryReason`,
        [isFree(now), isDue(now)],
        (row) => Object(row.turn).at === turn.at && row.nextRetryAt === nextRetryAt,
      );
      return updateDelivery(deliveries, change);
    },

    skip: (ref: DeliveryRef, reason: SkipReason, now: Date): Promise<'done' | 'refused'> =>
      updateDelivery(deliveries, buildSkipUpdate(ref, reason, now)),
  };
}
