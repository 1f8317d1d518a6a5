import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { type AttemptPorts, attemptDelivery } from '../../../functions/delivery/attempt.ts';
import type { SendAttempt } from '../../../functions/delivery/delivery.ts';
import { processDeliveryMessages } from '../../../functions/delivery/dispatch.ts';
import { fanOut } from '../../../functions/delivery/fan-out.ts';
import { LANES, type Lane } from '../../../functions/delivery/lanes.ts';
import { processDeadDeliveryMessage, reconcileDeliveries } from '../../../functions/delivery/reconcile.ts';
import {
  DEFAULT_GRACE_SECONDS,
  DEFAULT_RETRY_POLICY,
  deriveAttemptClocks,
} from '../../../functions/delivery/timing.ts';
import { endpointTurns, rateScheduleStore } from '../../../functions/delivery/turns.ts';
import type { OutboxEvent } from '../../../functions/events/events.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { endpointPaces } from '../../../functions/receivers/pace.ts';
import { FIRST_SANDBOX_GENERATION, LIVE_GENERATION } from '../../../functions/tenancy/tenant.ts';
import { anEndpoint, anEvent, aTenant } from '../../builders.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { MemoryLanes } from '../../doubles/memory-lanes.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { noMeasures } from '../../doubles/no-measures.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

const clocks = deriveAttemptClocks(10);
const GRACE = { graceSeconds: DEFAULT_GRACE_SECONDS };

/**
 * The workers of one organization's deliveries over stores and queues in memory. Each runs when the test
 * calls it.
 * @param terms.attempt answers an attempt
 * @param terms.maxReceives receives after which a message is a dead letter
 */
export function aService(terms: {
  attempt: SendAttempt;
  /** Replaces `attempt`. */
  prepareSend?: AttemptPorts['prepareSend'];
  maxReceives?: number;
  visibilitySeconds?: number;
  endpoints?: readonly Partial<Endpoint>[];
  /** Makes the organization a sandbox, whose data is at its first generation. */
  sandbox?: boolean;
}) {
  const tenant = aTenant({ generation: terms.sandbox ? FIRST_SANDBOX_GENERATION : LIVE_GENERATION });
  const clock = new VirtualClock();
  const log = recordedLog();
  const endpoints = new MemoryEndpoints();
  const states = memoryOrganizationStates(endpoints.service);
  if (terms.sandbox) states.makeSandbox(tenant.orgId);
  const now = clock.now;
  const deliveries = memoryDeliveries(endpoints);
  const due = deliveries.dueIndex;
  const lanes = new MemoryLanes({
    now,
    visibilitySeconds: terms.visibilitySeconds ?? clocks.visibility,
    maxReceives: terms.maxReceives ?? 100,
  });
  const subscribed = (terms.endpoints ?? [{}]).map((changes) =>
    anEndpoint({ orgId: tenant.orgId, ...changes }),
  );
  for (const endpoint of subscribed) endpoints.put(endpoint);
  const events = new Map<string, OutboxEvent>();
  const schedules = rateScheduleStore(deliveries.tables.rates);

  const processMessage = attemptDelivery(
    {
      deliveries,
      paces: endpointPaces({ setPace: endpoints.setPace, log, now }, clocks.attempt),
      queues: lanes,
      prepareSend: terms.prepareSend ?? (async () => terms.attempt),
      takeTurn: endpointTurns({ schedules, deliveries, log, now }),
      measures: noMeasures,
      log,
      now,
      wait: async (time) => clock.elapse(time),
    },
    { retry: DEFAULT_RETRY_POLICY, leaseSeconds: clocks.lease },
  );
  const runBatch = processDeliveryMessages({
    attempt: processMessage,
    organizations: { of: (orgId) => states.of(orgId) },
    contexts:
      async () =>
      ({ orgId, webhookId, eventId }) => ({
        endpoint: endpoints.present(orgId, webhookId),
        event: events.get(eventId),
      }),
    queues: lanes,
    log,
    now,
  });
  const bury = processDeadDeliveryMessage({ due, log, now }, GRACE);

  /**
   * Processes a batch of a queue, as the function and its event source do. @returns the number of messages
   */
  async function dispatchFrom(lane: Lane): Promise<number> {
    const batch = lanes.queues[lane].receive(10);
    const staying = new Set((await runBatch(lane, batch)).map(({ receiptHandle }) => receiptHandle));
    for (const { receiptHandle } of batch)
      if (!staying.has(receiptHandle)) await lanes.queues[lane].remove(receiptHandle);
    const dead = lanes.queues[lane].deadLetters.splice(0);
    for (const deliveryMessage of dead) await bury(deliveryMessage);
    return batch.length + dead.length;
  }

  const runFanOut = fanOut({
    subscribers: endpoints,
    deliveries,
    organizations: states,
    queues: lanes,
    log,
    now,
  });
  const runReconciler = reconcileDeliveries({ due, queues: lanes, log, now }, GRACE);

  return {
    tenant,
    clock,
    log,
    states,
    endpoints,
    /** The organization's endpoints as they were registered. */
    subscribed,
    deliveries,
    lanes,
    fanOut: runFanOut,
    dispatchFrom,
    /** Commits an event, and fans it out. */
    async publish(): Promise<OutboxEvent> {
      const event = anEvent({ tenant, now: now() });
      events.set(event.id, event);
      await runFanOut([{ kind: 'event', event }]);
      return event;
    },
    /** Lets minutes pass, each with a run of the reconciler and all messages that become visible in it. */
    async pass(minutes: number): Promise<void> {
      for (let minute = 0; minute < minutes; minute += 1) {
        await runReconciler(() => true);
        for (let step = 0; step < 12; step += 1) {
          for (const lane of LANES) while ((await dispatchFrom(lane)) > 0);
          clock.elapse(5);
        }
      }
    },
  };
}
