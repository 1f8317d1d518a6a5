import { setImmediate as turn } from 'node:timers/promises';
import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { expect, it } from 'vitest';
import { attemptDelivery } from '../../../functions/delivery/attempt.ts';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { ATTEMPTS_PER_ORGANIZATION, processDeliveryMessages } from '../../../functions/delivery/dispatch.ts';
import { DEFAULT_RETRY_POLICY } from '../../../functions/delivery/timing.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { endpointPaces } from '../../../functions/receivers/pace.ts';
import { aDelivery, anEndpoint, anEvent } from '../../builders.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { MemoryLanes } from '../../doubles/memory-lanes.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { noMeasures } from '../../doubles/no-measures.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

/** An endpoint with messages in the fresh queue, and a receiver that answers when the test calls it. */
async function aHangingReceiver(messageCount: number) {
  const clock = new VirtualClock();
  const log = recordedLog();
  const endpoints = new MemoryEndpoints();
  const deliveries = memoryDeliveries(endpoints);
  const lanes = new MemoryLanes({ now: clock.now, visibilitySeconds: 30, maxReceives: 100 });
  const endpoint = anEndpoint();
  endpoints.put(endpoint);
  for (let count = 0; count < messageCount; count += 1) {
    const delivery = aDelivery({ orgId: endpoint.orgId, webhookId: endpoint.id });
    await deliveries.add(delivery);
    await lanes.send('fresh', [{ message: toDeliveryMessage(delivery) }]);
  }
  const attempts: { onSlow: () => void; answer: () => void }[] = [];
  const processMessage = attemptDelivery(
    {
      deliveries,
      paces: endpointPaces({ setPace: endpoints.setPace, log, now: clock.now }, 10),
      queues: lanes,
      takeTurn: async () => ({ kind: 'start', at: 0, attempts: 0 }),
      prepareSend: async () => (_claimed, _event, onSlow) =>
        new Promise((resolve) => attempts.push({ onSlow, answer: () => resolve({ status: 204 }) })),
      measures: noMeasures,
      log,
      now: clock.now,
      wait: async () => undefined,
    },
    { retry: DEFAULT_RETRY_POLICY, leaseSeconds: 25 },
  );
  const createBatch = (read: Endpoint) =>
    processDeliveryMessages({
      attempt: processMessage,
      organizations: memoryOrganizationStates(),
      contexts: async () => () => ({ endpoint: read, event: anEvent() }),
      queues: lanes,
      log,
      now: clock.now,
    });
  return { clock, deliveries, lanes, attempts, run: createBatch(endpoint) };
}

it('messages behind slow attempts of their endpoint move to the slow queue without an attempt', async () => {
  const { deliveries, lanes, attempts, run } = await aHangingReceiver(10);
  const batch = lanes.queues.fresh.receive(10);
  const done = run('fresh', batch);
  await turn();
  expect(attempts).toHaveLength(ATTEMPTS_PER_ORGANIZATION);

  for (const { onSlow } of attempts) onSlow();
  attempts[0]?.answer();
  await turn();

  // The end of the first attempt releases all waiting ones, while three are still open.
  expect(lanes.queues.slow.backlog).toBe(10 - ATTEMPTS_PER_ORGANIZATION);
  expect(attempts).toHaveLength(ATTEMPTS_PER_ORGANIZATION);
  for (const { answer } of attempts) answer();
  expect(await done).toEqual([]);
  const started = deliveries.every.map((delivery) => delivery.attempts);
  expect(started.toSorted()).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
});

it('a message is sent to the slow queue before it is deleted from the fresh one', async () => {
  const { lanes, attempts, run } = await aHangingReceiver(5);
  lanes.queues.slow.refuse(1);
  const batch = lanes.queues.fresh.receive(10);
  const done = run('fresh', batch);
  await turn();
  for (const { onSlow, answer } of attempts) {
    onSlow();
    answer();
  }

  expect(await done).toEqual([batch[4]]);
  expect(lanes.queues.slow.deliveryMessages).toEqual([]);
});
