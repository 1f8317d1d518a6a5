import * as z from 'zod/mini';
import { type DeliveryId, type ReceiverId, withTrace } from '../aws/ids.ts';
import { Defect } from '../aws/logger.ts';
import { type Page, type PageRequest, readPage } from '../aws/pages.ts';
import {
  get,
  getMany,
  IS_NEW,
  lease,
  put,
  type Row,
  readRows,
  type Table,
  toExpiry,
  update,
} from '../aws/table.ts';
import { buildAddition, buildUpdate, type Change, type Commit, Contended } from '../aws/transaction.ts';
import { createReceiverNotice } from '../events/bus.ts';
import { HISTORY_DAYS } from '../events/events.ts';
import type { AttemptError } from '../receivers/attempt-error.ts';
import type { EndpointOutcome } from '../receivers/endpoint.ts';
import { buildEndpointChange } from '../receivers/endpoint-state.ts';
import { createStatusEntry, recordAuditEntry } from '../tenancy/audit.ts';
import { buildSandboxMark, DELIVERY_SHARDS, keys, listShards } from '../tenancy/keys.ts';
import { buildCurrentCondition } from '../tenancy/organizations.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import {
  type ClaimedDelivery,
  type ClaimResult,
  Delivery,
  type DeliveryRef,
  type DeliveryStatus,
  getClaimability,
  type MoveResult,
  type Settlement,
  type SkipReason,
} from './delivery.ts';
import {
  buildClaim,
  buildDeliveryKey,
  buildExhaustUpdate,
  buildRetryUpdate,
  buildSettleUpdate,
  buildSkipUpdate,
  buildTurnUpdate,
  type DeliveryUpdate,
  type DueRef,
  type KeptTurn,
} from './delivery-rows.ts';
import { appendNotice } from './outbox.ts';
import { isFirstDelivery, recordSuccess } from './redelivery.ts';

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
const DeliveryState = z.pick(Delivery, { id: true, eventId: true, status: true, redeliveryOf: true });
export type DeliveryState = z.infer<typeof DeliveryState>;
const STATE_ATTRIBUTES = ['pk', 'sk', ...Object.keys(DeliveryState.shape)];

/** All conditions must hold. */
export interface DeliveryFilter {
  status?: readonly DeliveryStatus[] | undefined;
  eventType?: readonly Delivery['eventType'][] | undefined;
  /** Range of creation times, as in the ids; `to` is exclusive. */
  from?: Date | undefined;
  to?: Date | undefined;
}

/** Range of times that an id can carry. */
const FIRST = new Date(0);
const LAST = new Date(2 ** 48 - 1);

export type DeliveryStore = ReturnType<typeof deliveryStore>;

/** Creates deliveries, reads them by id and lists them. */
export function deliveryStore(deliveries: Table) {
  /**
   * Those deliveries that exist, in no order.
   * @param refs without repetition
   * @throws Throttled when DynamoDB keeps returning unprocessed keys
   */
  async function findAll(refs: readonly DeliveryRef[], { consistent = true } = {}): Promise<Delivery[]> {
    const rows = await getMany(deliveries, refs.map(buildDeliveryKey), { consistent });
    return readRows(deliveries, rows, parseDelivery);
  }

  /** As `findAll`, without the other attributes. */
  async function findStates(refs: readonly DeliveryRef[], { consistent = true } = {}) {
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
      return new Map((await findStates(refs)).map((state) => [state.id, state]));
    },

    /**
     * Returns those that wait for the end of their first attempt. Eventually consistent, so the caller asks
     * again; one that cannot be read yet counts as waiting.
     * @param refs without repetition
     * @throws Throttled when DynamoDB keeps returning unprocessed keys
     */
    async listWaiting<T extends DeliveryRef>(refs: readonly T[]): Promise<T[]> {
      const found = await findStates(refs, { consistent: false });
      const begun = new Set(found.flatMap(({ id, status }) => (status === 'pending' ? [] : [id])));
      return refs.filter(({ id }) => !begun.has(id));
    },

    findAll,

    list(
      { generation }: Tenant,
      endpoint: ReceiverId,
      page: PageRequest,
      { status, eventType, from = FIRST, to = LAST }: DeliveryFilter = {},
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
      const { key, ...change } = buildRetryUpdate(delivery, now);
      return buildUpdate(deliveries, key, { refusal: 'delivery-changed', ...change });
    },

    adding(delivery: Delivery): Change {
      return buildAddition(deliveries, toRow(delivery));
    },
  };
}

/** Other tables and settings that state changes need. */
export interface MoveContext {
  service: Pick<Table, 'name'>;
  outbox: Pick<Table, 'name'>;
  commit: Commit;
  /** Seconds past due after which a delivery's message counts as lost. */
  graceSeconds: number;
}

export type DeliveryMoves = ReturnType<typeof deliveryMoves>;

/**
 * State changes of deliveries. Each is one conditional write that names its valid prior states, so only one
 * of two workers succeeds.
 */
export function deliveryMoves(deliveries: Table, { service, outbox, commit, graceSeconds }: MoveContext) {
  /**
   * Applies an update, in one transaction with its effect on the endpoint and further changes, if any.
   * @param terms `lastError` of a delivery that ends as a failure, for the notice of its effect; `isDone`:
   * whether a row shows the update
   */
  async function apply(
    { generation }: DeliveryRef,
    { key, ...change }: DeliveryUpdate,
    outcome: EndpointOutcome,
    {
      extraChanges = [],
      lastError = '',
      isDone,
    }: { extraChanges?: readonly Change[]; lastError?: string; isDone(row: Row): boolean },
  ): Promise<MoveResult> {
    const { endpoint, effect, at } = outcome;
    if (effect === 'none' && extraChanges.length === 0)
      return (await update(deliveries, key, { ...change, isDone })).kind;
    try {
      const result = await commit([
        buildUpdate(deliveries, key, { refusal: 'lease-lost', ...change }),
        ...extraChanges,
        ...(effect === 'none' ? [] : [buildEndpointChange(service, endpoint, effect, at)]),
        ...(effect === 'disable' ? [buildAuditAddition(outcome)] : []),
        ...buildEffectNotice(outcome, generation, lastError),
        ...buildCurrentCondition(service, { orgId: endpoint.orgId, generation }),
      ]);
      if (result.kind === 'committed') return 'done';
      return result.refusal === 'endpoint-changed' ? 'endpoint-changed' : 'refused';
    } catch (error) {
      // Deliveries that end together contend for their endpoint. After the first, the others may have no
      // effect.
      if (error instanceof Contended) return 'endpoint-changed';
      throw error;
    }
  }

  /** The notice for admins about a warning or disabling; none for other effects. */
  function buildEffectNotice(outcome: EndpointOutcome, generation: number, lastError: string): Change[] {
    const { endpoint, effect, at, traceId } = outcome;
    if (effect !== 'warn' && effect !== 'disable') return [];
    const { orgId, id: webhookId } = endpoint;
    const context = { tenant: { orgId, generation }, now: at, ...withTrace(traceId) };
    const type = effect === 'warn' ? 'webhook.failing' : 'webhook.disabled';
    return [appendNotice(outbox, createReceiverNotice(type, { webhookId, lastError }, context))];
  }

  const buildAuditAddition = ({ endpoint, at }: EndpointOutcome): Change =>
    recordAuditEntry(service, createStatusEntry(endpoint, 'disabled', { type: 'service' }, at));

  return {
    /**
     * Claims a delivery for one attempt and counts the attempt, before the request is sent.
     * @param leaseSeconds duration of the claim
     */
    async claim(
      ref: DeliveryRef,
      { now, leaseSeconds, maxAttempts }: { now: Date; leaseSeconds: number; maxAttempts: number },
    ): Promise<ClaimResult> {
      const { key, ...terms } = buildClaim(ref, now, maxAttempts);
      const claimed = await lease(deliveries, key, { now, seconds: leaseSeconds, ...terms });
      // The row that refused the claim, because a later read could return a later state.
      const found = claimed.row && parseDelivery(claimed.row);
      if (claimed.kind === 'leased' && found)
        return { kind: 'claimed', delivery: { ...found, lease: claimed.lease } };
      const claimability = getClaimability(found, now, maxAttempts);
      if (claimability.kind !== 'claimable') return claimability;
      throw new Defect(`the claim of ${ref.id} was refused although its row allows it`);
    },

    /** Keeps the time of a delivery's next attempt until its message comes, or the reconciler resumes it. */
    async keepTurn(ref: DueRef, terms: KeptTurn): Promise<'done' | 'refused'> {
      const { key, ...change } = buildTurnUpdate(ref, terms);
      const isDone = ({ turn, nextRetryAt }: Row) =>
        Object(turn).at === terms.turn.at && nextRetryAt === terms.until.toISOString();
      return (await update(deliveries, key, { ...change, isDone })).kind;
    },

    /**
     * Records an attempt's result. Refused when the lease is lost.
     */
    settle(claimed: ClaimedDelivery, settlement: Settlement, outcome: EndpointOutcome): Promise<MoveResult> {
      const isRedelivered = settlement.kind === 'succeeded' && !isFirstDelivery(claimed);
      const change = buildSettleUpdate(claimed, settlement, graceSeconds);
      const extraChanges = isRedelivered ? [recordSuccess(service, claimed)] : [];
      const { error: lastError } = settlement.attempt;
      return apply(claimed, change, outcome, {
        extraChanges,
        ...(lastError !== undefined && { lastError }),
        isDone: (row) =>
          parseDelivery(row).attemptLog.some(({ number }) => number === settlement.attempt.number),
      });
    },

    /** Ends a delivery whose last attempt was started and never settled. */
    exhaust(
      ref: DeliveryRef,
      failure: AttemptError,
      maxAttempts: number,
      outcome: EndpointOutcome,
    ): Promise<MoveResult> {
      const { at } = outcome;
      return apply(ref, buildExhaustUpdate(ref, failure, maxAttempts, at), outcome, {
        lastError: failure.error,
        isDone: ({ terminalAt }) => terminalAt === at.toISOString(),
      });
    },

    async skip(ref: DeliveryRef, reason: SkipReason, now: Date): Promise<'done' | 'refused'> {
      const { key, ...change } = buildSkipUpdate(ref, reason, now);
      const isDone = ({ terminalAt }: Row) => terminalAt === now.toISOString();
      return (await update(deliveries, key, { ...change, isDone })).kind;
    },
  };
}
