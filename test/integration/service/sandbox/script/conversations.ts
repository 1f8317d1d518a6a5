import { randomUUID } from 'node:crypto';
import type { Data, Teller } from '../transcript.ts';

/** Events that {@link conversations} and {@link tickets} cause. */
export const CAUSED = 14;
/** Digits of an identifier that names nothing. */
export const NOTHING = '01a1f84b811a7000a000000000000000';

const START = { channelId: 'chn_web', externalUserId: 'visitor-1' };

/** Valid and invalid calls on conversations and their resources. */
export async function conversations({ tell }: Teller): Promise<void> {
  const once = randomUUID();
  const first = await tell('POST', '/v1/conversations', { body: START, once });
  await tell('POST', '/v1/conversations', { body: START, once });
  await tell('POST', '/v1/conversations', { body: { ...START, externalUserId: 'visitor-2' }, once });
  await tell('POST', '/v1/conversations', { body: START, once: null });
  await tell('POST', '/v1/conversations', { body: START, once: 'no UUID' });
  await tell('POST', '/v1/conversations', { body: { ...START, channelId: '' } });
  await tell('POST', '/v1/conversations', { body: { ...START, channelId: '\ud800' } });
  await tell('POST', '/v1/conversations', { body: { channelId: 7 } });
  await tell('POST', '/v1/conversations', { body: START });
  const path = `/v1/conversations/${first.id}`;
  await tell('GET', path);
  await tell('GET', `/v1/conversations/cnv_${NOTHING}`);
  await tell('GET', '/v1/conversations/1');
  await pages({ tell }, '/v1/conversations');
  await tell('PATCH', path, { body: { metadata: { order: '1' }, channelId: 'chn_other' } });
  await tell('PATCH', path, { body: { metadata: { order: 1 } } });
  await tell('GET', '/v1/conversations?externalUserId=visitor-1&status=open&channelId=chn_other');

  await messages({ tell }, path);
  await handoff({ tell }, path);
  await resolve({ tell }, path);
  await tell('GET', path);
}

async function messages({ tell }: Pick<Teller, 'tell'>, path: string): Promise<void> {
  const once = randomUUID();
  const message = await tell('POST', `${path}/messages`, { body: { role: 'user', content: 'Hello' }, once });
  await tell('POST', `${path}/messages`, { body: { role: 'user', content: 'Hello' }, once });
  await tell('POST', `${path}/messages`, { body: { role: 'user', content: 'Goodbye' }, once });
  await tell('POST', `${path}/messages`, { body: { role: 'assistant', content: 'What can I do? 🙂' } });
  await tell('POST', `${path}/messages`, { body: { role: 'robot', content: 'none' } });
  await tell('POST', `${path}/messages`, { body: { role: 'user', content: 'x'.repeat(100_001) } });
  await tell('POST', `${path}/messages`, { body: { role: 'user', content: 'x'.repeat(100_000) } });
  await tell('POST', `/v1/conversations/cnv_${NOTHING}/messages`, { body: { role: 'user', content: 'Hi' } });
  await tell('GET', `${path}/messages/${message.id}`);
  await tell('GET', `${path}/messages/msg_${NOTHING}`);
  await tell('GET', `/v1/conversations/cnv_${NOTHING}/messages/${message.id}`);
  await pages({ tell }, `${path}/messages`);
}

async function handoff({ tell }: Pick<Teller, 'tell'>, path: string): Promise<void> {
  const once = randomUUID();
  const body = { reason: 'asked for a person' };
  await tell('POST', `${path}/handoff`, { body: { reason: '' } });
  const entry = await tell('POST', `${path}/handoff`, { body, once });
  await tell('POST', `${path}/handoff`, { body, once });
  await tell('POST', `${path}/handoff`, { body });
  await tell('GET', `${path}/escalations/${entry.id}`);
  await tell('GET', `${path}/escalations/esc_${NOTHING}`);
  await tell('GET', `${path}/escalations`);
}

/** The second call changes nothing; a message opens the conversation again. */
async function resolve({ tell }: Pick<Teller, 'tell'>, path: string): Promise<void> {
  await tell('POST', `${path}/resolve`, { body: { resolvedBy: 'x'.repeat(201) } });
  await tell('POST', `${path}/resolve`, { body: { resolvedBy: 'Ada' } });
  await tell('POST', `${path}/resolve`, { body: { resolvedBy: 'Grace' } });
  await tell('POST', `${path}/handoff`);
  await tell('POST', `${path}/messages`, { body: { role: 'user', content: 'And another thing' } });
  await tell('POST', `${path}/resolve`);
}

export async function tickets({ tell }: Teller): Promise<void> {
  const { id: conversationId } = await tell('POST', '/v1/conversations', { body: START });
  const once = randomUUID();
  const ticket = await tell('POST', '/v1/tickets', {
    body: { conversationId, reason: 'nobody there' },
    once,
  });
  await tell('POST', '/v1/tickets', { body: { conversationId, reason: 'nobody there' }, once });
  await tell('POST', '/v1/tickets', { body: {} });
  await tell('POST', '/v1/tickets', { body: { reason: 'none in particular' } });
  await tell('POST', '/v1/tickets', { body: { conversationId: `cnv_${NOTHING}` } });
  await tell('POST', '/v1/tickets', { body: { conversationId: '1' } });
  await tell('GET', `/v1/tickets/${ticket.id}`);
  await tell('GET', `/v1/tickets/tkt_${NOTHING}`);
  await pages({ tell }, '/v1/tickets');
}

/** A listing page by page, and invalid listing parameters. */
export async function pages(
  { tell }: Pick<Teller, 'tell'>,
  path: string,
  also: Readonly<Record<string, string>> = {},
): Promise<void> {
  const at = (query: Record<string, string>) => `${path}?${new URLSearchParams({ ...also, ...query })}`;
  for (let cursor: Data[string]; cursor !== null; ) {
    const page = await tell(
      'GET',
      at({ limit: '1', ...(cursor === undefined ? {} : { cursor: String(cursor) }) }),
    );
    cursor = page.nextCursor ?? null;
  }
  await tell('GET', at({}));
  await tell('GET', at({ limit: '1000' }));
  await tell('GET', at({ limit: '-1' }));
  await tell('GET', at({ limit: 'many' }));
  await tell('GET', at({ cursor: 'made up' }));
  await tell('GET', at({ order: 'oldest' }));
}
