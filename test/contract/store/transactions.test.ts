import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { Contended, committer } from '../../../functions/aws/transaction.ts';
import type { Message } from '../../../functions/conversations/conversations.ts';
import { conversationStore, messageStore } from '../../../functions/conversations/conversations.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { buildEvent, type OutboxEvent } from '../../../functions/events/events.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aConversation, aDelivery, aMessage, anEndpoint, aTenant, NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { cancelTransactions, conflictOnOverlap, loseNextAnswer } from './faults.ts';
import { dynamoDbStores } from './stores.ts';

const engine = dynamoDb();
const atOnce = async () => undefined;

/** A conversation, and a function that posts messages to it as the route does. */
async function postingTo(client: DynamoDBDocumentClient) {
  const { service, outbox } = await engine.tables(client);
  const tenant = aTenant();
  const conversations = conversationStore(service);
  const messages = messageStore(service);
  const events = outboxStore(outbox);
  const conversation = aConversation();
  const commit = committer(client, atOnce);
  await commit(conversations.add(tenant, conversation));

  return {
    post() {
      const message = aMessage({ conversationId: conversation.id });
      const event = buildEvent(
        'message.received',
        { ...message, messageId: message.id },
        { tenant, now: NOW },
      );
      const committed = commit([messages.add(tenant, message), events.append(event)]);
      return { message, event, committed };
    },
    /**
     * Whether both the message and its event exist, or neither.
     * @throws when only one does
     */
    async happened({ message, event }: { message: Message; event: OutboxEvent }) {
      const [{ items }, { Item }] = await Promise.all([
        messages.list(tenant, conversation.id, { limit: 100 }),
        client.send(new GetCommand({ TableName: outbox.name, Key: keys.event(event, event.id) })),
      ]);
      const isStored = items.some(({ id }) => id === message.id);
      expect(Item !== undefined).toBe(isStored);
      return isStored;
    },
  };
}

describe('fifty messages to one conversation at once', () => {
  it('do not conflict while the conversation is open', async () => {
    const client = engine.client();
    const { post, happened } = await postingTo(client);
    const conflicts = conflictOnOverlap(client);

    const posted = Array.from({ length: 50 }, () => post());
    const results = await Promise.all(posted.map(({ committed }) => committed));

    expect(conflicts.count()).toBe(0);
    expect(results).toEqual(Array.from({ length: 50 }, () => ({ kind: 'committed' })));
    for (const one of posted) expect(await happened(one)).toBe(true);
  });

  it('all succeed when each is cancelled up to five times', async () => {
    const client = engine.client();
    const { post, happened } = await postingTo(client);
    const tries = new Map<string, number>();
    cancelTransactions(client, ({ ClientRequestToken = '' }) => {
      const attempt = (tries.get(ClientRequestToken) ?? 0) + 1;
      tries.set(ClientRequestToken, attempt);
      return attempt <= tries.size % 6;
    });

    const posted = Array.from({ length: 50 }, () => post());
    const results = await Promise.all(posted.map(({ committed }) => committed));

    expect(results).toEqual(Array.from({ length: 50 }, () => ({ kind: 'committed' })));
    expect(tries.size).toBe(50);
    for (const one of posted) expect(await happened(one)).toBe(true);
  });

  it('are committed entirely or not at all when some conflict repeatedly', async () => {
    const client = engine.client();
    const { post, happened } = await postingTo(client);
    const unlucky = new Set<string>();
    const seen = new Set<string>();
    cancelTransactions(client, ({ ClientRequestToken = '' }) => {
      if (!seen.has(ClientRequestToken) && seen.size % 5 === 0) unlucky.add(ClientRequestToken);
      seen.add(ClientRequestToken);
      return unlucky.has(ClientRequestToken);
    });

    const posted = Array.from({ length: 50 }, () => post());
    const results = await Promise.allSettled(posted.map(({ committed }) => committed));

    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(failures).toHaveLength(10);
    expect(failures.every((reason) => reason instanceof Contended)).toBe(true);
    for (const [index, message] of posted.entries())
      expect(await happened(message)).toBe(results[index]?.status === 'fulfilled');
  });
});

describe('a request whose answer was lost', () => {
  it('is committed once as a transaction', async () => {
    const client = engine.client();
    const { service } = await engine.tables(client);
    const endpoints = endpointStore(service);
    const endpoint = anEndpoint();
    const fault = loseNextAnswer(client, 'TransactWriteItemsCommand');

    const result = await committer(client)(endpoints.add(endpoint));

    expect(fault.lost()).toBe(true);
    expect(result).toEqual({ kind: 'committed' });
    expect(await endpoints.all(endpoint.orgId)).toEqual([endpoint]);
    const { Item } = await client.send(
      new GetCommand({ TableName: service.name, Key: keys.endpointCount(endpoint.orgId) }),
    );
    expect(Item).toMatchObject({ endpoints: 1 });
  });

  it('claims its delivery and counts one attempt', async () => {
    const client = engine.client();
    const { deliveries: store } = dynamoDbStores(await engine.tables(client));
    const delivery = aDelivery();
    await store.add(delivery);
    const fault = loseNextAnswer(client, 'UpdateItemCommand');

    const claim = await store.claim(delivery, { now: NOW, leaseSeconds: 25, maxAttempts: 8 });

    expect(fault.lost()).toBe(true);
    expect(claim).toMatchObject({ kind: 'claimed', delivery: { attempts: 1 } });
    expect(await store.find(delivery)).toEqual(claim.kind === 'claimed' && claim.delivery);
  });
});
