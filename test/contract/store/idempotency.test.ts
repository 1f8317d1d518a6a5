import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { Contended, committer } from '../../../functions/aws/transaction.ts';
import type { Message } from '../../../functions/conversations/conversations.ts';
import { messageStore } from '../../../functions/conversations/conversations.ts';
import {
  type IdempotencyRecord,
  type IdempotencyScope,
  idempotencyStore,
} from '../../../functions/http/idempotency.ts';
import { aTenant, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { conflictOnOverlap } from './faults.ts';

const engine = dynamoDb();
const tenant = aTenant();
const conversationId = newId('cnv', NOW);
const scope: IdempotencyScope = {
  tenant,
  route: 'createMessage',
  key: '6f1f4f0c-4d0f-4a36-9f5c-0a5f0f1b2c3d',
};
const USED = { kind: 'refused', refusal: 'idempotency-key-used' };
const DAY = seconds(86_400);

const aRecord = (data = 'the answer'): IdempotencyRecord => ({
  fingerprint: 'f'.repeat(64),
  status: 201,
  data: JSON.stringify(data),
});

const aMessage = (content: string): Message => ({
  id: newId('msg', NOW),
  conversationId,
  role: 'user',
  content,
  createdAt: NOW.toISOString(),
});

async function aService(client = engine.client()) {
  const { service } = await engine.tables(client);
  const memory = idempotencyStore(service);
  const messages = messageStore(service);
  const commit = committer(client);
  return {
    memory,
    /** Adds a message under an idempotency key, as a route does. */
    post: (content: string, now = NOW, of = scope) =>
      commit([memory.record(of, aRecord(content), now), messages.add(tenant, aMessage(content))]),
    contents: async () =>
      (await messages.list(tenant, conversationId, { limit: 100 })).items.map(({ content }) => content),
  };
}

describe('an idempotency record', () => {
  it('lets one of twenty transactions with one key commit, and refuses the others', async () => {
    const client = engine.client();
    const { post, contents, memory } = await aService(client);
    const conflicts = conflictOnOverlap(client);
    // As a client retries a 503: on a busy machine the conflicts of twenty may last longer than the
    // function's retries.
    const insist = (content: string): ReturnType<typeof post> =>
      post(content).catch((error) => {
        if (error instanceof Contended) return insist(content);
        throw error;
      });

    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => insist(`message ${index}`)));

    expect(results.filter(({ kind }) => kind === 'committed')).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'refused')).toEqual(Array.from({ length: 19 }, () => USED));
    expect(conflicts.count()).toBeGreaterThan(0);
    const [content] = await contents();
    expect(await contents()).toHaveLength(1);
    expect(await memory.find(scope, NOW)).toEqual(aRecord(content));
  });

  it('contains the answer of its transaction with the location', async () => {
    const { service } = await engine.tables();
    const memory = idempotencyStore(service);
    const record = { ...aRecord(), location: '/api/v1/webhooks/whk_1' };

    await committer(service.client)([memory.record(scope, record, NOW)]);

    expect(await memory.find(scope, NOW)).toEqual(record);
  });

  it('is valid for 24 hours and is then replaced', async () => {
    const { post, contents, memory } = await aService();
    await post('first');

    expect(await post('too early', later(NOW, DAY - 1))).toEqual(USED);
    expect(await memory.find(scope, later(NOW, DAY - 1))).toEqual(aRecord('first'));

    // The row still exists: DynamoDB deletes expired ones within days.
    expect(await memory.find(scope, later(NOW, DAY))).toBeUndefined();
    expect(await post('second', later(NOW, DAY))).toEqual({ kind: 'committed' });
    expect(await memory.find(scope, later(NOW, DAY))).toEqual(aRecord('second'));
    expect((await contents()).toSorted()).toEqual(['first', 'second']);
  });

  it.each<[string, IdempotencyScope]>([
    ['route', { ...scope, route: 'createConversation' }],
    ['key', { ...scope, key: '6f1f4f0c-4d0f-4a36-9f5c-0a5f0f1b2c3e' }],
    ['organization', { ...scope, tenant: aTenant() }],
    ["generation of the organization's data", { ...scope, tenant: { ...tenant, generation: 1 } }],
  ])('does not apply to the same request of another %s', async (_what, other) => {
    const { post, memory } = await aService();
    await post('first');

    expect(await memory.find(other, NOW)).toBeUndefined();
    expect(await post('second', NOW, other)).toEqual({ kind: 'committed' });
    expect(await memory.find(scope, NOW)).toEqual(aRecord('first'));
  });
});
