import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import {
  type AttemptMeasurement,
  type AttemptMetrics,
  type AttemptPorts,
  attemptDelivery,
} from '../../../functions/delivery/attempt.ts';
import { type Delivery, DeliveryMessage, type SendAttempt } from '../../../functions/delivery/delivery.ts';
import { processDeliveryMessages } from '../../../functions/delivery/dispatch.ts';
import type { Lane } from '../../../functions/delivery/lanes.ts';
import { settlements } from '../../../functions/delivery/settle.ts';
import { DEFAULT_GRACE_SECONDS, DEFAULT_RETRY_POLICY } from '../../../functions/delivery/timing.ts';
import { endpointTurns, rateScheduleStore } from '../../../functions/delivery/turns.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { endpointPaces } from '../../../functions/receivers/pace.ts';
import { FIRST_SANDBOX_GENERATION, LIVE_GENERATION } from '../../../functions/tenancy/tenant.ts';
import { aDelivery, anEndpoint, anEvent } from '../../builders.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

export const LEASE_SECONDS = 25;
export const ATTEMPT_SECONDS = 10;
const MAX_ATTEMPTS = DEFAULT_RETRY_POLICY.maxAttempts;

type Answer = Awaited<ReturnType<SendAttempt>>;

export const OK: Answer = { status: 204 };
export const FAILED: Answer = {
  status: 500,
  error: 'the receiver answered 500',
  errorCode: 'http_status',
  response: 'Oops',
};

interface Setting {
  delivery?: Partial<Delivery>;
  endpoint?: Partial<Endpoint>;
  /** Answers an attempt for the receiver; it may take its time. */
  attempt?: (attempt: number, onSlow: () => void) => Promise<Answer> | Answer;
  /** Whether a queue nears its limit of messages in flight; by default none does. */
  crowded?: AttemptPorts['queues']['crowded'];
  /** Makes the organization a sandbox, whose data is at its first generation. */
  sandbox?: boolean;
  /** Called before an attempt is prepared. */
  prepare?: () => Promise<unknown>;
  /** Gives turns at an endpoint with a limit; by default those of its schedule. */
  takeTurn?: AttemptPorts['takeTurn'];
  /** Called for each wait; by default no time passes. */
  wait?: AttemptPorts['wait'];
}

/** One delivery to one endpoint in stores in memory, and a dispatcher that processes it. */
export async function aDispatch({
  attempt = () => OK,
  crowded = async () => false,
  sandbox = false,
  prepare = async () => undefined,
  takeTurn: replacedTurn,
  wait = async () => undefined,
  ...changes
}: Setting = {}) {
  const clock = new VirtualClock();
  const log = recordedLog();
  const endpoints = new MemoryEndpoints();
  const endpoint = anEndpoint(changes.endpoint);
  const states = memoryOrganizationStates(endpoints.service);
  const deliveries = memoryDeliveries(endpoints);
  if (sandbox) states.makeSandbox(endpoint.orgId);
  const tenant = {
    orgId: endpoint.orgId,
    generation: sandbox ? FIRST_SANDBOX_GENERATION : LIVE_GENERATION,
  };
  const event = anEvent({ tenant });
  const delivery = aDelivery({
    ...tenant,
    webhookId: endpoint.id,
    eventId: event.id,
    ...changes.delivery,
  });
  endpoints.put(endpoint);
  await deliveries.add(delivery);

  /** The numbers of the attempts that reached the receiver. */
  const attempts: number[] = [];
  const measured: AttemptMeasurement[] = [];
  let disabled = 0;
  let turnsTaken = 0;
  const measures: AttemptMetrics = {
    attempt: (made) => void measured.push(made),
    disabled: () => {
      disabled += 1;
    },
  };
  const terms = {
    graceSeconds: DEFAULT_GRACE_SECONDS,
    maxAttempts: MAX_ATTEMPTS,
    commitSeconds: 20,
    measures,
    log,
  };
  const ends = settlements(deliveries.tables, terms);
  const schedules = rateScheduleStore(deliveries.tables.rates);
  const scheduledTurn = endpointTurns({ schedules, deliveries, log, now: clock.now });
  const processMessage = attemptDelivery(
    {
      deliveries: { ...deliveries, ...ends },
      paces: endpointPaces({ setPace: endpoints.setPace, log, now: clock.now }, ATTEMPT_SECONDS),
      queues: { crowded },
      async prepareSend() {
        await prepare();
        return async (claimed, _event, onSlow) => {
          attempts.push(claimed.attempts);
          return attempt(claimed.attempts, onSlow);
        };
      },
      takeTurn: (limited) => {
        turnsTaken += 1;
        return (replacedTurn ?? scheduledTurn)(limited);
      },
      measures,
      log,
      now: clock.now,
      wait,
    },
    { retry: DEFAULT_RETRY_POLICY, leaseSeconds: LEASE_SECONDS },
  );
  const deliveryMessage = DeliveryMessage.parse(delivery);
  /** Messages whose context the dispatcher has read. */
  const read: DeliveryMessage[] = [];
  const receive = processDeliveryMessages({
    attempt: processMessage,
    organizations: states,
    contexts: async (deliveryMessages) => {
      read.push(...deliveryMessages);
      return ({ webhookId }) => ({ endpoint: endpoints.present(endpoint.orgId, webhookId), event });
    },
    queues: { send: async () => [], hide: async () => undefined },
    log,
    now: clock.now,
  });
  return {
    clock,
    log,
    states,
    endpoints,
    deliveries,
    endpoint,
    event,
    delivery,
    deliveryMessage,
    attempts,
    measured,
    disablings: () => disabled,
    turnsTaken: () => turnsTaken,
    processMessage,
    /**
     * Processes the message with the endpoint as it is now. In the retry queue a message may stay for all its
     * attempts.
     */
    dispatch: async (lane: Lane = 'retry', message = deliveryMessage) =>
      processMessage(message, { endpoint: await endpoints.find(endpoint.orgId, endpoint.id), event }, lane),
    /** Messages whose endpoint and event the dispatcher has read. */
    read,
    /** Processes the message as one that was received from a queue. @returns whether it is deleted there */
    receive: async (lane: Lane = 'retry') => {
      const staying = await receive(lane, [{ message: deliveryMessage, receiptHandle: 'receipt' }]);
      return staying.length === 0 ? 'deleted' : 'stays';
    },
    claim: () =>
      deliveries.claim(delivery, {
        now: clock.now(),
        leaseSeconds: LEASE_SECONDS,
        maxAttempts: MAX_ATTEMPTS,
      }),
    readDelivery: () => deliveries.find(delivery),
    readEndpoint: () => endpoints.find(endpoint.orgId, endpoint.id),
  };
}

/** Lets another worker act once, just before a request. */
export function actBefore(
  { endpoints: { service } }: Awaited<ReturnType<typeof aDispatch>>,
  wanted: string,
  act: () => unknown,
) {
  const { pass } = service;
  service.pass = async (operation, input, answer) => {
    if (operation !== wanted) return pass(operation, input, answer);
    service.pass = pass;
    await act();
    return answer();
  };
}
