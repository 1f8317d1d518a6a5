import type { OrgId, ReceiverId } from '../domain/ids.ts';
import { keys } from './keys.ts';
import { type Table, updated } from './table.ts';

/**
 * Disabling and enabling by an operator (public-api.md, Webhook endpoint status: "or by contacting support"). Each names the state that it leaves, as
 * the settlement that disables does, so that they exclude each other and a repetition changes nothing.
 */
export function endpointStanding(service: Table) {
  const apply = (
    orgId: OrgId,
    id: ReceiverId,
    from: 'active' | 'auto_disabled',
    UpdateExpression: string,
    values: Record<string, unknown>,
  ): Promise<boolean> =>
    updated(service, {
      Key: keys.endpoint(orgId, id),
      UpdateExpression,
      ConditionExpression: '#status = :from',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':from': from, ...values },
    });

  return {
    /** Its open deliveries are skipped when they come up, and later events from the start. @returns false when it is not active */
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
