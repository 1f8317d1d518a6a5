import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { createStatusEntry } from '../domain/audit.ts';
import { Endpoint } from '../domain/endpoint.ts';
import type { OrgId, ReceiverId } from '../domain/ids.ts';
import { recordAuditEntry } from './audit-log.ts';
import { keys } from './keys.ts';
import { readRows, type Table } from './table.ts';
import { committer } from './transaction.ts';

/** One page of a scan. */
export interface ScannedPage<T> {
  found: T[];
  /** Rows read, which determine the cost. */
  scanned: number;
}

/**
 * A row that needs a version of the signing keys: an endpoint, a channel, or the idempotency record of their
 * creation, kept for a day.
 */
export const KeyUse = z.object({ pk: z.string(), sk: z.string() });
export type KeyUse = z.infer<typeof KeyUse>;

export type DisabledEndpoint = Pick<Endpoint, 'id' | 'orgId' | 'disabledAt' | 'disabledReason'>;
const DisabledEndpoint = z.pick(Endpoint, { id: true, orgId: true, disabledAt: true, disabledReason: true });

interface Filter {
  FilterExpression: string;
  ProjectionExpression: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues: Record<string, unknown>;
}

/** Queries without a key, for operators only: they scan the table at half a read unit per 4 KB. */
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
          // To include all rows written before the scan.
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
    /** Rows that name a version of the signing keys. */
    usesOf(keyVersion: string): AsyncGenerator<ScannedPage<KeyUse>> {
      return pages(
        {
          // An idempotency record holds the response as JSON.
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

    /** Disabled endpoints and channels of all organizations. */
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
 * Disables and enables endpoints for an operator (docs/specification.md, Webhook endpoints). Each change
 * names its prior state, so one of two concurrent changes succeeds and a repetition changes nothing. It
 * commits with its entry in the organization's audit log.
 */
export function endpointState(service: Table) {
  const commit = committer(service.client);

  async function apply(
    endpoint: { orgId: OrgId; id: ReceiverId },
    to: 'disabled' | 'enabled',
    now: Date,
    { update, values }: { update: string; values: Record<string, unknown> },
  ): Promise<boolean> {
    const Update = {
      TableName: service.name,
      Key: keys.endpoint(endpoint.orgId, endpoint.id),
      UpdateExpression: update,
      ConditionExpression: '#status = :from',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':from': to === 'disabled' ? 'active' : 'auto_disabled', ...values },
    };
    const { kind } = await commit([
      { refusal: 'endpoint-changed', write: { Update } },
      recordAuditEntry(service, createStatusEntry(endpoint, to, { type: 'operator' }, now)),
    ]);
    return kind === 'committed';
  }

  return {
    /**
     * Disables an endpoint: open deliveries are skipped when they become due, new ones at creation.
     * @returns false when the endpoint is not active
     */
    disable(orgId: OrgId, id: ReceiverId, now: Date): Promise<boolean> {
      // No `disabledReason`: that is for endpoints disabled by failures.
      return apply({ orgId, id }, 'disabled', now, {
        update: 'SET #status = :to, disabledAt = :now',
        values: { ':to': 'auto_disabled', ':now': now.toISOString() },
      });
    },

    /**
     * Enables an endpoint and resets its failure count.
     * @returns false when the endpoint is not disabled
     */
    enable(orgId: OrgId, id: ReceiverId, now: Date): Promise<boolean> {
      return apply({ orgId, id }, 'enabled', now, {
        update:
          'SET #status = :to, consecutiveFailures = :zero, unproven = :true REMOVE disabledAt, disabledReason, failingSince, streak, slowUntil, stalledUntil',
        values: { ':to': 'active', ':zero': 0, ':true': true },
      });
    },
  };
}
