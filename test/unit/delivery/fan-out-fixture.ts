import {
  type Delivery,
  type DeliveryMessage,
  toDeliveryMessage,
} from '../../../functions/delivery/delivery.ts';
import { type FanOutPorts, fanOut } from '../../../functions/delivery/fan-out.ts';
import type { FirstLane } from '../../../functions/delivery/lanes.ts';
import type { OutboxEvent } from '../../../functions/events/events.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { aDelivery, anEndpoint, anEvent, aTenant, NOW } from '../../builders.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

export const tenant = aTenant();
export const ours = (changes: Partial<Endpoint> = {}) => anEndpoint({ orgId: tenant.orgId, ...changes });
/** The outbox work of an event. */
export const owing = (event: OutboxEvent = anEvent({ tenant })) => ({ kind: 'event' as const, event });
export const events = (count: number) => Array.from({ length: count }, () => owing());
/** The outbox work of a delivery that is resent. */
export const anOrder = (delivery: Delivery = aDelivery({ orgId: tenant.orgId })) => ({
  kind: 'redelivery' as const,
  deliveryMessage: toDeliveryMessage(delivery),
});

/** Fan-out over stores in memory, with some of its ports replaced. */
export function aFanOut(endpoints: Endpoint[], replaced: Partial<FanOutPorts> = {}) {
  const subscribers = new MemoryEndpoints();
  for (const endpoint of endpoints) subscribers.put(endpoint);
  const states = memoryOrganizationStates();
  const deliveries = memoryDeliveries(subscribers);
  const log = recordedLog();
  const sent: DeliveryMessage[] = [];
  const lanesOf = new Map<DeliveryMessage['webhookId'], FirstLane>();
  const queues: FanOutPorts['queues'] = {
    async send(lane, messages) {
      for (const { message: deliveryMessage } of messages) {
        sent.push(deliveryMessage);
        lanesOf.set(deliveryMessage.webhookId, lane);
      }
      return [];
    },
  };
  const run = fanOut({
    subscribers,
    deliveries,
    queues,
    organizations: states,
    log,
    now: () => NOW,
    ...replaced,
  });
  return { run, subscribers, deliveries, states, log, sent, lanesOf };
}
