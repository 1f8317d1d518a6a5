import { describe, expect, it } from 'vitest';
import { keyringSource } from '../../../functions/aws/keyrings.ts';
import type { ClaimedDelivery, SendAttempt } from '../../../functions/delivery/delivery.ts';
import { receiverClient } from '../../../functions/delivery/outbound/client.ts';
import { simulatedReceiver, webhookSender } from '../../../functions/delivery/webhook-sender.ts';
import { gate } from '../../../functions/tenancy/gate.ts';
import { aKeyring } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { FAILED, OK } from './dispatch-fixture.ts';
import { aService } from './service-fixture.ts';

/** Records the number of each attempt. All attempts have the outcome of `outcomeOf`. */
function counting(outcomeOf: (claimed: ClaimedDelivery) => Awaited<ReturnType<SendAttempt>>) {
  const started: number[] = [];
  const attempt: SendAttempt = async (claimed) => {
    started.push(claimed.attempts);
    return outcomeOf(claimed);
  };
  return { started, attempt };
}

const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8];

describe('delivery engine, against known losses and loops of other services,', () => {
  it('ends retries after eight attempts, and leaves nothing in a queue or an index', async () => {
    const { started, attempt } = counting(() => FAILED);
    const { publish, pass, deliveries, lanes } = aService({ attempt });
    await publish();

    await pass(120);

    expect(started).toEqual(EIGHT);
    expect(deliveries.every).toMatchObject([{ status: 'exhausted' }]);
    expect(lanes.deliveryMessages).toEqual([]);
    expect(deliveries.due).toEqual([]);
  });

  it("gives each of an event's endpoints a delivery and retries of its own", async () => {
    const { started, attempt } = counting(({ attempts }) => (attempts < 3 ? FAILED : OK));
    const { publish, pass, deliveries } = aService({
      attempt,
      endpoints: Array.from({ length: 20 }, () => ({})),
    });
    const event = await publish();

    await pass(10);

    expect(deliveries.every).toHaveLength(20);
    expect(new Set(deliveries.every.map(({ id }) => id)).size).toBe(20);
    for (const delivery of deliveries.every)
      expect(delivery).toMatchObject({ eventId: event.id, status: 'succeeded', attempts: 3 });
    expect(started).toHaveLength(60);
  });

  it('retries after a DNS error', async () => {
    let isKnown = false;
    const receivers = { policy: { loopback: 'refuse' }, timeoutMs: 10_000 } as const;
    const sender = webhookSender({
      gate: gate(memoryOrganizationStates().of),
      simulated: simulatedReceiver(receivers),
      outbound: receiverClient({
        ...receivers,
        resolve: async () => {
          isKnown = true;
          throw Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
        },
      }),
      userAgent: 'Example/1.0',
      signingKeys: keyringSource(async () => JSON.stringify(aKeyring())),
      refreshBlocks: async () => undefined,
      now: () => new Date(),
    });
    const { publish, dispatchFrom, deliveries, lanes } = aService({
      attempt: async () => OK,
      prepareSend: sender,
    });
    await publish();

    await dispatchFrom('fresh');

    expect(isKnown).toBe(true);
    expect(deliveries.every).toMatchObject([
      { status: 'retrying', attempts: 1, lastError: expect.any(String) },
    ]);
    expect(lanes.queues.retry.deliveryMessages).toHaveLength(1);
  });

  it('skips the delivery of a deleted endpoint and processes the rest of the batch', async () => {
    const { started, attempt } = counting(() => OK);
    const { publish, dispatchFrom, deliveries, endpoints, subscribed, lanes } = aService({
      attempt,
      endpoints: [{}, {}, {}],
    });
    await publish();
    const gone = subscribed[1];
    if (gone) endpoints.remove(gone.orgId, gone.id);

    await dispatchFrom('fresh');

    expect(started).toEqual([1, 1]);
    expect(deliveries.every.map(({ status }) => status).toSorted()).toEqual([
      'skipped',
      'succeeded',
      'succeeded',
    ]);
    expect(lanes.deliveryMessages).toEqual([]);
  });

  it('processes the next batch after seconds of queue errors', async () => {
    const { started, attempt } = counting(({ attempts }) => (attempts < 2 ? FAILED : OK));
    const { publish, pass, dispatchFrom, deliveries, lanes } = aService({ attempt });
    await publish();
    const { send } = lanes.queues.retry;
    lanes.queues.retry.send = async () => {
      throw new Error('the queue is down');
    };
    await dispatchFrom('fresh');
    lanes.queues.retry.send = send;

    await pass(5);

    expect(started).toEqual([1, 2]);
    expect(deliveries.every).toMatchObject([{ status: 'succeeded' }]);
  });

  it('loses no attempt when the queue gives a message up early', async () => {
    const { started, attempt } = counting(() => FAILED);
    const { publish, pass, deliveries } = aService({ attempt, maxReceives: 2 });
    await publish();

    await pass(6 * 60);

    expect(started).toEqual(EIGHT);
    expect(deliveries.every).toMatchObject([{ status: 'exhausted', terminalReason: 'max_attempts' }]);
  });

  it('resends a message that was lost in the queue', async () => {
    const { started, attempt } = counting(({ attempts }) => (attempts < 4 ? FAILED : OK));
    const { publish, pass, dispatchFrom, deliveries, lanes } = aService({ attempt });
    await publish();
    await dispatchFrom('fresh');
    expect(lanes.queues.retry.lose(0)).toBeDefined();
    expect(lanes.deliveryMessages).toEqual([]);

    await pass(30);

    expect(started).toEqual([1, 2, 3, 4]);
    expect(deliveries.every).toMatchObject([{ status: 'succeeded' }]);
  });
});
