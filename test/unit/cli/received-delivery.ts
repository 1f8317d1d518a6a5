import type { ReceivedDelivery } from '../../../packages/cli/src/receiver/receiver.ts';

const EVENT = {
  type: 'conversation.created',
  schemaVersion: 1,
  orgId: 'org_1',
  createdAt: '2026-11-20T09:30:00.000Z',
  data: { conversationId: 'cnv_1', channelId: 'chn_1', externalUserId: 'visitor' },
};

/** A delivery as the receiver returns it, verified by default. */
export function aDelivery(changes: Partial<ReceivedDelivery> = {}): ReceivedDelivery {
  return {
    receivedAt: new Date(2026, 10, 20, 14, 3, 22, 104),
    method: 'POST',
    path: '/listen',
    headers: { 'webhook-id': 'evt_1', 'webhook-delivery-id': 'dlv_1', 'webhook-attempt': '2' },
    body: Buffer.from(JSON.stringify(EVENT)),
    verification: { kind: 'verified' },
    ...changes,
  };
}
