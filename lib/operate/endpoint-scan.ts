import { ScanCommand, type ScanCommandOutput } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import {
  assign,
  attributes,
  type Expression,
  expression,
  Placeholders,
} from '../../functions/aws/expression.ts';
import type { OrgId, ReceiverId } from '../../functions/aws/ids.ts';
import { type Row, readRows, type Table } from '../../functions/aws/table.ts';
import { buildUpdate, committer } from '../../functions/aws/transaction.ts';
import { Endpoint } from '../../functions/receivers/endpoint.ts';
import { NEW } from '../../functions/receivers/pace.ts';
import { createStatusEntry, recordAuditEntry } from '../../functions/tenancy/audit.ts';
import { keys } from '../../functions/tenancy/keys.ts';

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

/** Queries without a key, for operators only: they scan the table at half a read unit per 4 KB. */
export function endpointScan(service: Table) {
  async function* pages<T>(
    filter: Expression,
    names: readonly string[],
    parse: (row: unknown) => T,
  ): AsyncGenerator<ScannedPage<T>> {
    const placeholders = new Placeholders();
    const FilterExpression = placeholders.text(filter);
    const ProjectionExpression = placeholders.text(attributes(names));
    const { ExpressionAttributeNames, ExpressionAttributeValues = {} } = placeholders.maps;
    let after: Row | undefined;
    do {
      const {
        Items = [],
        ScannedCount = 0,
        LastEvaluatedKey,
      }: ScanCommandOutput = await service.client.send(
        new ScanCommand({
          TableName: service.name,
          FilterExpression,
          ProjectionExpression,
          ExpressionAttributeNames,
          ExpressionAttributeValues: marshall(ExpressionAttributeValues),
          ConsistentRead: true,
          ExclusiveStartKey: after && marshall(after),
        }),
      );
      const rows = Items.map((item) => unmarshall(item));
      yield { found: readRows(service, rows, parse), scanned: ScannedCount };
      after = LastEvaluatedKey && unmarshall(LastEvaluatedKey);
    } while (after !== undefined);
  }

  return {
    /** Rows that name a version of the signing keys. */
    usesOf(keyVersion: string): AsyncGenerator<ScannedPage<KeyUse>> {
      // An idempotency record holds the response as JSON.
      const quoted = `"keyVersion":${JSON.stringify(keyVersion)}`;
      const isUse = expression`keyVersion = ${keyVersion} OR contains(#data, ${quoted})`;
      return pages(isUse, ['pk', 'sk'], (row) => KeyUse.parse(row));
    },

    /** Disabled endpoints and channels of all organizations. */
    disabled(): AsyncGenerator<ScannedPage<DisabledEndpoint>> {
      const names = ['pk', 'sk', ...Object.keys(DisabledEndpoint.shape)];
      return pages(expression`#status = ${'auto_disabled'}`, names, (row) => DisabledEndpoint.parse(row));
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
    update: Expression,
  ): Promise<boolean> {
    const { kind } = await commit([
      buildUpdate(service, keys.endpoint(endpoint.orgId, endpoint.id), {
        refusal: 'endpoint-changed',
        update,
        if: expression`#status = ${to === 'disabled' ? 'active' : 'auto_disabled'}`,
      }),
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
      const set = assign({ status: 'auto_disabled', disabledAt: now.toISOString() });
      return apply({ orgId, id }, 'disabled', now, expression`SET ${set}`);
    },

    /**
     * Enables an endpoint and resets its failure count.
     * @returns false when the endpoint is not disabled
     */
    enable(orgId: OrgId, id: ReceiverId, now: Date): Promise<boolean> {
      const set = assign({ status: 'active', consecutiveFailures: 0, pace: NEW });
      return apply(
        { orgId, id },
        'enabled',
        now,
        expression`SET ${set} REMOVE disabledAt, disabledReason, failingSince`,
      );
    },
  };
}
