/** The time of signed requests in tests. */
export const NOW = new Date('2026-11-24T09:00:00Z');

export const aSecret = (key: Uint8Array = new Uint8Array(32).fill(7)): string =>
  `whsec_${Buffer.from(key).toString('base64')}`;

/** The body of an event. @param data any, because the verifier does not judge it */
export const aBody = (data: object): string =>
  JSON.stringify({
    type: 'webhook.test',
    schemaVersion: 1,
    orgId: 'org_1',
    createdAt: NOW.toISOString(),
    data,
  });

export const signedHeaders = (signature: string, at: Date, id = 'evt_1') => ({
  'content-type': 'application/json',
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': signature,
  'webhook-delivery-id': 'dlv_1',
  'webhook-endpoint-id': 'whk_1',
  'webhook-attempt': '2',
  'webhook-example': 'true',
});
