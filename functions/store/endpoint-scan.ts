import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { Endpoint } from '../domain/endpoint.ts';
import type { OrgId, ReceiverId } from '../domain/ids.ts';
import { keys } from './keys.ts';
import { readRows, type Table, update } from './table.ts';

/** What a page of a scan has found. */
export interface ScannedPage<T> {
  found: T[];
  /** Rows that were looked at, which is what a scan costs. */
  scanned: number;
}

/**
 * What still needs a version of the signing keys: an endpoint or channel, or the answer to a call that made
 * one, which is kept for a day.
 */
export const KeyUse = z.object({ pk: z.string(), sk: z.string() });
export type KeyUse = z.infer<typeof KeyUse>;

/** An endpoint or channel that is disabled. */
export type DisabledEndpoint = Pick<Endpoint, 'id' | 'orgId' | 'disabledAt' | 'disabledReason'>;
const DisabledEndpoint = z.pick(Endpoint, { id: true, orgId: true, disabledAt: true, disabledReason: true });

interface Filter {
  FilterExpression: string;
  ProjectionExpression: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues: Record<string, unknown>;
}

/**
 * Questions that no key answers, for operators alone: they read the whole table, half a read unit for each 4
 * KB of it.
 */
export function endpointScan(service: Table) {
  async function* pages<T>(filter: Filter, parse: (row: unknown) => T): AsyncGenerator<ScannedPage<T>> {
    let after: Record<string, unknown> | undefined;
    do {
      const {
        Items = [],
        ScannedCount,
        LastEvaluatedKey,
      } = await service.client.send(
        new ScanCommand({
          TableName: service.name,
          // What was written before the question was asked is in the answer.
          ConsistentRead: true,
          ...filter,
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      yield { found: readRows(service, Items, parse), scanned: ScannedCount ?? 0 };
      after = LastEvaluatedKey;
    } while (after !== undefined);
  }

  return {
    /** What names a version of the signing keys. */
    usesOf(keyVersion: string): AsyncGenerator<ScannedPage<KeyUse>> {
      return pages(
        {
          // An idempotency record has the answer as JSON text.
          FilterExpression: 'keyVersion = :version OR contains(#data, :quoted)',
          ProjectionExpression: 'pk, sk',
          ExpressionAttributeNames: { '#data': 'data' },
          ExpressionAttributeValues: {
            ':version': keyVersion,
            ':quoted': `"keyVersion":${JSON.stringify(keyVersion)}`,
          },
        },
        (row) => KeyUse.parse(row),
      );
    },

    /** Endpoints and channels that are disabled, of all organizations. */
    disabled(): AsyncGenerator<ScannedPage<DisabledEndpoint>> {
      return pages(
        {
          FilterExpression: '#status = :disabled',
          ProjectionExpression: 'pk, sk, id, orgId, disabledAt, disabledReason',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':disabled': 'auto_disabled' },
        },
        (row) => DisabledEndpoint.parse(row),
      );
    },
  };
}

/**
 * Disabling and enabling by an operator (public-api.md, Webhook endpoint status: "or by contacting support").
 * Each names the state that it leaves, as the settlement that disables does, so that they exclude each other
 * and a repetition changes nothing.
 */
export function readEndpointState(service: Table) {
  const apply = (
    orgId: OrgId,
    id: ReceiverId,
    from: 'active' | 'auto_disabled',
    UpdateExpression: string,
    values: Record<string, unknown>,
  ): Promise<boolean> =>
    update(service, {
      Key: keys.endpoint(orgId, id),
      UpdateExpression,
      ConditionExpression: '#status = :from',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':from': from, ...values },
    });

  return {
    /**
     * Its open deliveries are skipped when they come up, and later events from the start. @returns false when
     * it is not active
     */
    disable(orgId: OrgId, id: ReceiverId, now: Date): Promise<boolean> {
      // Without a reason: it has not failed too often.
      return apply(orgId, id, 'active', 'SET #status = :to, disabledAt = :now', {
        ':to': 'auto_disabled',
        ':now': now.toISOString(),
      });
    },

    /** With no failures counted, as if it were new. @returns false when it is not disabled */
    enable(orgId: OrgId, id: ReceiverId): Promise<boolean> {
      return apply(
        orgId,
        id,
        'auto_disabled',
        'SET #status = :to, consecutiveFailures = :zero, unproven = :true REMOVE disabledAt, disabledReason, failingSince, streak, slowUntil, stalledUntil',
        { ':to': 'active', ':zero': 0, ':true': true },
      );
    },
  };
}
