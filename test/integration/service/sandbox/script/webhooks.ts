import { randomUUID } from 'node:crypto';
import type { Data, Teller } from '../transcript.ts';
import { NOTHING, pages } from './conversations.ts';

const EVENTS = ['ticket.created'];

const REFUSED_URLS = [
  'http://hooks.example.com/',
  'https://10.0.0.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://user:password@hooks.example.com/',
  'https://hooks.example.com/#part',
  'https://hooks.example.com:22/',
  'https://internal/',
  `https://hooks.example.com/${'x'.repeat(2048)}`,
  'hooks.example.com',
  '',
];
const REFUSED_EVENTS = [[], ['ticket.closed'], ['ticket.created', 'ticket.created'], 'ticket.created', null];

/** Registers, reads, changes and deletes endpoints without sending anything to them. */
export async function webhooks({ tell }: Teller): Promise<void> {
  const url = 'https://hooks.example.com/orders?shop=7';
  const once = randomUUID();
  const endpoint = await tell('POST', '/v1/webhooks', { body: { url, events: EVENTS }, once });
  await tell('POST', '/v1/webhooks', { body: { url, events: EVENTS }, once });
  await tell('POST', '/v1/webhooks', { body: { url, events: ['message.received'] }, once });
  await tell('POST', '/v1/webhooks', { body: { url, events: EVENTS }, once: null });
  await tell('POST', '/v1/webhooks', { body: { url, events: EVENTS }, once: 'no UUID' });
  for (const refused of REFUSED_URLS)
    await tell('POST', '/v1/webhooks', { body: { url: refused, events: EVENTS } });
  for (const events of REFUSED_EVENTS) await tell('POST', '/v1/webhooks', { body: { url, events } });
  await tell('POST', '/v1/webhooks', { body: { url, events: EVENTS } });

  const path = `/v1/webhooks/${endpoint.id}`;
  await tell('GET', path);
  await tell('GET', `/v1/webhooks/whk_${NOTHING}`);
  await pages({ tell }, '/v1/webhooks');
  await tell('PATCH', path, { body: { url: 'https://hooks.example.com/other' } });
  await tell('PATCH', path, { body: { events: ['message.received', 'ticket.created'] } });
  await tell('PATCH', path, { body: {} });
  await tell('PATCH', path, { body: { status: 'auto_disabled' } });
  await tell('PATCH', path, { body: { url: 'https://127.0.0.1:80/' } });
  await tell('PATCH', `/v1/webhooks/whk_${NOTHING}`, { body: { events: EVENTS } });
  await tell('GET', path);

  await tell('POST', `${path}/test`, { once: null });
  await tell('POST', `/v1/webhooks/whk_${NOTHING}/test`);
  await tell('GET', `${path}/stats`);
  await tell('GET', `${path}/stats?hours=many`);
  await tell('GET', `${path}/deliveries`);
  await tell('GET', `${path}/deliveries?include=everything`);
  await tell('GET', `${path}/deliveries/dlv_${NOTHING}`);
  await tell('POST', `${path}/deliveries/dlv_${NOTHING}/redeliver`);

  await tell('DELETE', path);
  await tell('DELETE', path);
  await tell('GET', path);
  await tell('GET', `${path}/deliveries`);
  await tell('GET', `${path}/stats`);
}

/** Registers endpoints until the limit is reached. */
export async function fillUp({ tell }: Teller): Promise<void> {
  const body = { url: 'https://hooks.example.com/one-more', events: EVENTS };
  for (let last: Data = {}; last.error === undefined; ) last = await tell('POST', '/v1/webhooks', { body });
}
