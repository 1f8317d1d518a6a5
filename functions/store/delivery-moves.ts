import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import {
  type Claimed,
  type ClaimResult,
  type DeliveryRef,
  type EndpointOutcome,
  type MoveResult,
  type Settlement,
  type SkipReason,
  standingOf,
} from '../domain/delivery.ts';
import type { DisablingNotice } from '../domain/endpoint.ts';
import { Defect } from '../domain/errors.ts';
import { traced } from '../domain/trace.ts';
import { arriving, deliveryOf } from './deliveries.ts';
import { claimUpdate, type DeliveryUpdate, exhaustUpdate, settleUpdate, skipUpdate } from './due-index.ts';
import { endpointChange } from './endpoints.ts';
import { stillCurrent } from './organizations.ts';
import { disablingNotice } from './outbox.ts';
import { type Table, updated } from './table.ts';
import { type Change, type Commit, Contended } from './transaction.ts';

/** What else the moves of a delivery touch. */
export interface MoveContext {
  service: Pick<Table, 'name'>;
  outbox: Pick<Table, 'name'>;
  commit: Commit;
  /** How late a delivery may be before its message counts as lost. */
  graceSeconds: number;
}

/**
 * The moves of deliveries from state to state. Each is one conditional write that names the states it may
 * leave, so that two workers with the same delivery cannot both succeed.
 */
export function deliveryMoves(deliveries: Table, { service, outbox, commit, graceSeconds }: MoveContext) {
  const table = { TableName: deliveries.name };

  /**
   * Applies an update, in one transaction with its effect on the endpoint, if it has one.
   * @param beside further changes of the transaction
   */
  async function apply(
    { generation }: DeliveryRef,
    update: DeliveryUpdate,
    outcome: EndpointOutcome,
    beside: readonly Change[] = [],
  ): Promise<MoveResult> {
    const { endpoint, effect, at } = outcome;
    if (effect === 'none' && beside.length === 0)
      return (await updated(deliveries, update)) ? 'done' : 'refused';
    try {
      const result = await commit([
        { refusal: 'lease-lost', write: { Update: { ...table, ...update } } },
        ...beside,
        ...(effect === 'none' ? [] : [endpointChange(service, endpoint, effect, at)]),
        ...(effect === 'disable' ? [noticeOf(outcome, generation)] : []),
        ...stillCurrent(service, { orgId: endpoint.orgId, generation }),
      ]);
      if (result.kind === 'committed') return 'done';
      return result.refusal === 'endpoint-changed' ? 'endpoint-changed' : 'refused';
    } catch (error) {
      // Deliveries that end together collide on their endpoint; the first may leave the others nothing to
      // change.
      if (error instanceof Contended) return 'endpoint-changed';
      throw error;
    }
  }

  const noticeOf = ({ endpoint, at, traceId }: EndpointOutcome, generation: number): Change => {
    const notice: DisablingNotice = {
      kind: 'endpoint-disabled',
      orgId: endpoint.orgId,
      generation,
      webhookId: endpoint.id,
      disabledAt: at.toISOString(),
      ...traced(traceId),
    };
    return disablingNotice(outbox, notice);
  };

  return {
    /**
     * Takes a delivery for one attempt and counts it, before any request goes out.
     * @param leaseSeconds how long the claim holds
     */
    async claim(
      ref: DeliveryRef,
      { now, leaseSeconds, maxAttempts }: { now: Date; leaseSeconds: number; maxAttempts: number },
    ): Promise<ClaimResult> {
      const lease = { token: randomUUID(), until: now.getTime() + leaseSeconds * 1000 };
      try {
        const { Attributes } = await deliveries.client.send(
          new UpdateCommand({ ...table, ...claimUpdate(ref, lease, now, maxAttempts) }),
        );
        return { kind: 'claimed', delivery: { ...deliveryOf(Attributes), lease } };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        // The error carries the row that failed the condition: a read afterwards could show a later state.
        const found = error.Item && deliveryOf(unmarshall(error.Item));
        // The SDK repeats a request whose response was lost, so this claim may already be on the row.
        if (found?.lease?.token === lease.token) return { kind: 'claimed', delivery: { ...found, lease } };
        const standing = standingOf(found, now, maxAttempts);
        if (standing.kind !== 'claimable') return standing;
        throw new Defect(`the claim of ${ref.id} was refused although its row allows it`, { cause: error });
      }
    },

    /**
     * Records what an attempt made of its delivery. Refused when the lease is no longer the claim's:
     * an attempt that outlived its lease cannot settle.
     */
    settle(claimed: Claimed, settlement: Settlement, outcome: EndpointOutcome): Promise<MoveResult> {
      const arrives = settlement.kind === 'succeeded' && claimed.redeliveryOf !== undefined;
      const update = settleUpdate(claimed, settlement, graceSeconds);
      return apply(claimed, update, outcome, arrives ? [arriving(service, claimed)] : []);
    },

    /** Ends a delivery whose last attempt was started and never settled, because its worker was lost. */
    exhaust(
      ref: DeliveryRef,
      lastError: string,
      maxAttempts: number,
      outcome: EndpointOutcome,
    ): Promise<MoveResult> {
      return apply(ref, exhaustUpdate(ref, lastError, maxAttempts, outcome.at), outcome);
    },

    /** Ends an open, unleased delivery that will not be attempted again. */
    async skip(ref: DeliveryRef, reason: SkipReason, now: Date): Promise<'done' | 'refused'> {
      return (await updated(deliveries, skipUpdate(ref, reason, now))) ? 'done' : 'refused';
    },
  };
}
