import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { type Commit, type CommitResult, Contended, committer } from '../../../functions/aws/transaction.ts';
import { deliveryStore } from '../../../functions/delivery/deliveries.ts';
import { type Delivery, toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { outboxStore, WORK } from '../../../functions/delivery/outbox.ts';
import { createRedelivery, recordRedelivery } from '../../../functions/delivery/redelivery.ts';
import { type IdempotencyScope, idempotencyStore } from '../../../functions/http/idempotency.ts';
import { aDelivery, anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { cancelTransactions, conflictOnOverlap, loseNextAnswer } from './faults.ts';
import { dynamoDbStores, storeKinds } from './stores.ts';

const engine = dynamoDb();
const atOnce = async () => undefined;
const LATER = later(NOW, seconds(60));

function again(delivery: Delivery): Delivery {
  const redelivery = createRedelivery(delivery, anEndpoint(), LATER);
  if (redelivery.kind === 'refused') throw new Error(`refused: ${redelivery.why}`);
  return redelivery.delivery;
}

/** An exhausted delivery, and its redelivery as the route makes it. */
async function anExhaustedDelivery(client = engine.client()) {
  const tables = await engine.tables(client);
  const { service, outbox, deliveries } = tables;
  const store = deliveryStore(deliveries);
  const { claim } = dynamoDbStores(tables).deliveries;
  const orders = outboxStore(outbox);
  const memory = idempotencyStore(service);
  const exhausted = aDelivery({ status: 'exhausted', attempts: 8, terminalAt: NOW.toISOString() });
  await store.add(exhausted);
  const tenant = { orgId: exhausted.orgId, generation: exhausted.generation };
  const scope: IdempotencyScope = {
    tenant,
    route: 'redeliver-delivery',
    key: '6f1f4f0c-4d0f-4a36-9f5c-0a5f0f1b2c3d',
  };

  return {
    exhausted,
    store,
    claim,
    redeliver(options: { commit?: Commit; once?: boolean; delivery?: Delivery } = {}) {
      const { commit = committer(client, atOnce), once = false, delivery = again(exhausted) } = options;
      const answer = { fingerprint: 'f'.repeat(64), status: 202, data: JSON.stringify(delivery.id) };
      return commit([
        ...(once ? [memory.record(scope, answer, LATER)] : []),
        store.adding(delivery),
        orders.appendRedelivery(toDeliveryMessage(delivery)),
        recordRedelivery(service, delivery),
      ]);
    },
    /** The answer that a repetition would get. */
    remembered: () => memory.find(scope, LATER),
    /**
     * The new deliveries, each with its work item in the outbox.
     * @throws when there is one without the other
     */
    async redeliveries(): Promise<Delivery[]> {
      const page = await store.list(tenant, exhausted.webhookId, { limit: 100 });
      const { Items = [] } = await client.send(
        new ScanCommand({ TableName: outbox.name, ConsistentRead: true }),
      );
      const made = page.items.filter(({ redeliveryOf: original }) => original === exhausted.id);
      const orderIds = Items.map((row) => Object(WORK.parse(row)).deliveryMessage.id);
      expect(orderIds.toSorted()).toEqual(made.map(({ id }) => id).toSorted());
      return made;
    },
  };
}

describe('the transaction of a redelivery', () => {
  it('adds the new delivery and the work item for its message, and keeps the old delivery unchanged', async () => {
    const { exhausted, store, redeliver, redeliveries } = await anExhaustedDelivery();
    const delivery = again(exhausted);

    expect(await redeliver({ delivery })).toEqual({ kind: 'committed' });

    expect(await redeliveries()).toEqual([delivery]);
    expect(await store.find(exhausted)).toEqual(exhausted);
  });

  it('adds neither when the delivery exists already', async () => {
    const { exhausted, claim, redeliver, redeliveries } = await anExhaustedDelivery();
    const delivery = again(exhausted);
    await redeliver({ delivery });
    const claimed = await claim(delivery, { now: LATER, leaseSeconds: 25, maxAttempts: 8 });

    expect(await redeliver({ delivery })).toEqual({ kind: 'refused', refusal: 'exists' });

    expect(claimed).toMatchObject({ kind: 'claimed', delivery: { attempts: 1 } });
    expect(await redeliveries()).toEqual([claimed.kind === 'claimed' && claimed.delivery]);
  });

  it('is retried when others of the same event are committed at the same time', async () => {
    const client = engine.client();
    const { redeliver, redeliveries } = await anExhaustedDelivery(client);
    const conflicts = conflictOnOverlap(client);

    const results = await Promise.all(
      Array.from({ length: 3 }, () => redeliver({ commit: committer(client) })),
    );

    expect(results).toEqual(Array.from({ length: 3 }, () => ({ kind: 'committed' })));
    expect(conflicts.count()).toBeGreaterThan(0);
    expect(await redeliveries()).toHaveLength(3);
  });

  it('is committed once by twenty requests with one idempotency key, and the answer names that delivery', async () => {
    const client = engine.client();
    const { redeliver, redeliveries, remembered } = await anExhaustedDelivery(client);
    const conflicts = conflictOnOverlap(client);

    /** As a client retries a 503. */
    async function retryUntilAnswered(): Promise<CommitResult> {
      for (;;) {
        const result = await redeliver({ once: true, commit: committer(client) }).catch(retryable);
        if (result !== 'contended') return result;
      }
    }
    const results = await Promise.all(Array.from({ length: 20 }, retryUntilAnswered));

    expect(results.filter(({ kind }) => kind === 'committed')).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'refused')).toEqual(
      Array.from({ length: 19 }, () => ({ kind: 'refused', refusal: 'idempotency-key-used' })),
    );
    expect(conflicts.count()).toBeGreaterThan(0);
    const made = await redeliveries();
    expect(made).toHaveLength(1);
    expect(await remembered()).toMatchObject({ data: JSON.stringify(made[0]?.id) });
  });

  it('adds neither when conflicts continue, and its key stays unused', async () => {
    const client = engine.client();
    const { redeliver, redeliveries, remembered } = await anExhaustedDelivery(client);
    let unlucky = true;
    cancelTransactions(client, () => unlucky);

    await expect(redeliver({ once: true })).rejects.toThrow(Contended);
    expect(await redeliveries()).toEqual([]);
    expect(await remembered()).toBeUndefined();

    unlucky = false;
    expect(await redeliver({ once: true })).toEqual({ kind: 'committed' });
    expect(await redeliveries()).toHaveLength(1);
  });

  it('is committed once when its answer was lost', async () => {
    const client = engine.client();
    const { redeliver, redeliveries } = await anExhaustedDelivery(client);
    const fault = loseNextAnswer(client, 'TransactWriteItemsCommand');

    expect(await redeliver()).toEqual({ kind: 'committed' });

    expect(fault.lost()).toBe(true);
    expect(await redeliveries()).toHaveLength(1);
  });
});

describe.each(storeKinds(engine))('a delivery that repeats another (%s)', (_, make) => {
  it('has eight attempts of its own, and its state changes do not affect the original', async () => {
    const { deliveries } = await make();
    const exhausted = aDelivery({ status: 'exhausted', attempts: 8, terminalAt: NOW.toISOString() });
    const delivery = again(exhausted);
    await deliveries.add(exhausted);
    expect(await deliveries.add(delivery)).toBe('added');

    const numbers: number[] = [];
    for (let attempt = 0; attempt < 9; attempt += 1) {
      const now = later(LATER, attempt * seconds(25));
      const claim = await deliveries.claim(delivery, { now, leaseSeconds: 25, maxAttempts: 8 });
      if (claim.kind === 'claimed') numbers.push(claim.delivery.attempts);
      else expect(claim).toEqual({ kind: 'spent' });
    }

    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await deliveries.find(delivery)).toMatchObject({ redeliveryOf: exhausted.id, status: 'pending' });
    expect(await deliveries.find(exhausted)).toEqual(exhausted);
  });
});

function retryable(error: unknown): 'contended' {
  if (error instanceof Contended) return 'contended';
  throw error;
}
