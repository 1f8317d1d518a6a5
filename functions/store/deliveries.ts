import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import {
  type Claimed,
  type ClaimResult,
  Delivery,
  type DeliveryRef,
  type EndpointOutcome,
  type MoveResult,
  type Settlement,
  type SkipReason,
  standingOf,
} from '../domain/delivery.ts';
import type { EndpointId } from '../domain/ids.ts';
import { HISTORY_DAYS } from '../domain/redelivery.ts';
import type { Tenant } from '../domain/tenant.ts';
import { partition } from './collection.ts';
import {
  claimUpdate,
  type DeliveryUpdate,
  deliveryKey,
  exhaustUpdate,
  settleUpdate,
  skipUpdate,
} from './delivery-updates.ts';
import { endpointChange } from './endpoints.ts';
import { DELIVERY_SHARDS, keys, shards } from './keys.ts';
import { newestFirst, type Page, type PageRequest } from './pages.ts';
import { expiry, type Table } from './table.ts';
import { addition, type Change, type Commit, Contended } from './transaction.ts';

const parse = (row: unknown): Delivery => Delivery.parse(row);

const rowOf = (delivery: Delivery) => ({
  ...deliveryKey(delivery),
  ...delivery,
  expiresAt: expiry(new Date(delivery.createdAt), HISTORY_DAYS),
});

/**
 * Deliveries and their moves. Each move is one conditional write that names the states it may leave, so that two
 * workers with the same delivery cannot both succeed (architecture.md, Promises 1 and 2).
 */
export function deliveryStore(deliveries: Table, service: Pick<Table, 'name'>, commit: Commit) {
  const table = { TableName: deliveries.name };

  /** Applies an update, with what it does to the endpoint in the same transaction when it does something. */
  async function apply(update: DeliveryUpdate, outcome?: EndpointOutcome): Promise<MoveResult> {
    if (outcome !== undefined && outcome.effect !== 'none') {
      const { endpoint, effect, at } = outcome;
      try {
        const result = await commit([
          { refusal: 'lease-lost', write: { Update: { ...table, ...update } } },
          endpointChange(service, endpoint, effect, at),
        ]);
        if (result.kind === 'committed') return 'done';
        return result.refusal === 'endpoint-changed' ? 'endpoint-changed' : 'refused';
      } catch (error) {
        // Deliveries of one endpoint that end together collide on it. The first of them may have left the others nothing to change.
        if (error instanceof Contended) return 'endpoint-changed';
        throw error;
      }
    }
    try {
      await deliveries.client.send(new UpdateCommand({ ...table, ...update }));
      return 'done';
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return 'refused';
      throw error;
    }
  }

  return {
    async find(ref: DeliveryRef): Promise<Delivery | undefined> {
      const { Item } = await deliveries.client.send(
        new GetCommand({ ...table, Key: deliveryKey(ref), ConsistentRead: true }),
      );
      return Item && parse(Item);
    },

    list(tenant: Tenant, endpoint: EndpointId, page: PageRequest): Promise<Page<Delivery>> {
      const partitions = shards(DELIVERY_SHARDS).map((shard) =>
        partition(deliveries, keys.deliveries(endpoint, tenant.generation, shard), parse),
      );
      return newestFirst(partitions, page);
    },

    /** Adds a delivery unless it is already there, which a replayed batch finds. */
    async add(delivery: Delivery): Promise<'added' | 'exists'> {
      try {
        await deliveries.client.send(
          new PutCommand({
            ...table,
            Item: rowOf(delivery),
            ConditionExpression: 'attribute_not_exists(pk)',
          }),
        );
        return 'added';
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return 'exists';
        throw error;
      }
    },

    /** The addition of a delivery as a change, for a transaction that makes it due as well. */
    adding(delivery: Delivery): Change {
      return addition(deliveries, rowOf(delivery));
    },

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
        return { kind: 'claimed', delivery: { ...parse(Attributes), lease } };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        // The row that the condition met comes with the error: reading it afterwards could show a later state.
        const found = error.Item && parse(unmarshall(error.Item));
        // The SDK repeats a request whose answer it lost, so the condition may have met this very claim.
        if (found?.lease?.token === lease.token) return { kind: 'claimed', delivery: { ...found, lease } };
        const standing = standingOf(found, now, maxAttempts);
        if (standing.kind !== 'claimable') return standing;
        throw new Error(`the claim of ${ref.id} was refused although its row allows it`, { cause: error });
      }
    },

    /**
     * Records what an attempt made of its delivery. Refused when the lease is no longer the claim's:
     * an attempt that outlived its lease cannot settle.
     */
    settle(claimed: Claimed, settlement: Settlement, outcome: EndpointOutcome): Promise<MoveResult> {
      return apply(settleUpdate(claimed, settlement), outcome);
    },

    /** Ends a delivery whose last attempt was started and never settled, because its worker was lost. */
    exhaust(
      ref: DeliveryRef,
      lastError: string,
      maxAttempts: number,
      outcome: EndpointOutcome,
    ): Promise<MoveResult> {
      return apply(exhaustUpdate(ref, lastError, maxAttempts, outcome.at), outcome);
    },

    /** Ends an open, unleased delivery of an endpoint that is gone or disabled. */
    skip(ref: DeliveryRef, reason: SkipReason, now: Date): Promise<MoveResult> {
      return apply(skipUpdate(ref, reason, now));
    },
  };
}
