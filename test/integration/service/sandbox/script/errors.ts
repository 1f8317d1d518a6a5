import type { Actor, Teller } from '../transcript.ts';

const START = { channelId: 'chn_web', externalUserId: 'visitor-1' };
const UNKNOWN_KEYS = ['ck_live_', 'ck_sandbox_'].map((prefix) => `${prefix}${'A'.repeat(43)}`);

/** Requests that are refused before their content is read. */
export async function errors({ tell }: Teller, { narrow, revoked, key }: Actor): Promise<void> {
  for (const credential of [null, 'x.y.z', `${key}x`, revoked, ...UNKNOWN_KEYS]) {
    await tell('GET', '/v1/conversations', { credential });
    await tell('POST', '/v1/webhooks', { credential, body: START });
  }
  await tell('GET', '/v1/conversations', { credential: narrow });
  await tell('POST', '/v1/conversations', { credential: narrow, body: START });
  await tell('GET', '/v1/webhooks', { credential: narrow });
  await tell('POST', '/v1/webhooks', { credential: narrow, body: 'not read' });

  await tell('GET', '/settings/organization');
  await tell('GET', '/settings/api-keys');
  await tell('POST', '/settings/api-keys', { body: { name: 'Mine', scopes: ['read:webhooks'] } });
  await tell('GET', '/settings/sandbox');
  await tell('POST', '/settings/sandbox/provision', { body: { name: 'Mine', scopes: ['read:webhooks'] } });
  await tell('POST', '/settings/sandbox/reset');

  await tell('GET', '/v1/nothing');
  await tell('PUT', '/v1/conversations', { body: START });
  await tell('DELETE', '/v1/conversations');
  await tell('POST', '/v1/conversations', { body: '{' });
  await tell('POST', '/v1/conversations', { body: '[]' });
  await tell('POST', '/v1/conversations', { body: '' });
  await tell('POST', '/v1/conversations');
  await tell('POST', '/v1/conversations', { body: START, type: 'text/plain' });
  await tell('POST', '/v1/conversations', { body: { ...START, pad: 'x'.repeat(256 * 1024) } });
}
