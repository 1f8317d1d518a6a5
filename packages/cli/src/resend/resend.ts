import { type Client, type DataOf, isApiError } from '../../../sdk/src/index.ts';
import { CommandError } from '../errors.ts';
import { receiverClient } from '../receiver-client.ts';

type Delivery = Pick<DataOf<'readEvent'>['deliveries'][number], 'id' | 'webhookId' | 'channelId' | 'status'>;

/** What is going to be sent. */
export interface ResendStep {
  deliveryId: string;
  /** The endpoint, or the channel. */
  webhookId: string;
  /** Undefined when it is not known. */
  url: string | undefined;
  eventId: string;
  eventType: string;
  status: string;
  /** `retry`: the next attempt of the delivery, now. `redeliver`: a new delivery. */
  action: 'retry' | 'redeliver';
}

/** A step that was done, with the delivery that sends the event. */
export interface Resent extends ResendStep {
  newDeliveryId: string;
}

type Signal = { signal?: AbortSignal };

/**
 * What resending an event, or one delivery, would send. Changes nothing.
 * @param id `evt_…` or `dlv_…`
 * @param endpoint only this one
 * @throws CommandError when there is nothing to send
 */
export async function planResend(
  client: Client,
  { id, endpoint }: { id: string; endpoint?: string | undefined },
  options: Signal = {},
): Promise<ResendStep[]> {
  return id.startsWith('evt_')
    ? planEvent(client, id, endpoint, options)
    : [await planDelivery(client, id, endpoint, options)];
}

async function planEvent(
  client: Client,
  id: string,
  endpoint: string | undefined,
  options: Signal,
): Promise<ResendStep[]> {
  const { type, deliveries } = await client.events.get(id, {}, options);
  // The last one of each endpoint: an earlier one was resent already.
  const latest = new Map(deliveries.map((delivery) => [delivery.webhookId ?? delivery.channelId, delivery]));
  const steps = [...latest]
    .filter(([receiver, { receiverStatus }]) =>
      endpoint === undefined ? receiverStatus === 'active' : receiver === endpoint,
    )
    .flatMap(([, delivery]) => stepFor(delivery, { id, type, url: delivery.url ?? undefined }));
  if (steps.length > 0) return steps;
  const where = endpoint === undefined ? 'at an active endpoint' : `at ${endpoint}`;
  throw new CommandError(
    'FAILED',
    `${id} has no delivery ${where} that can be resent: it has none, or its first attempt is in progress.`,
  );
}

async function planDelivery(
  client: Client,
  id: string,
  endpoint: string | undefined,
  options: Signal,
): Promise<ResendStep> {
  const delivery = await findDelivery(client, id, endpoint, options);
  const [step] = stepFor(delivery, { id: delivery.eventId, type: delivery.eventType, url: undefined });
  if (step !== undefined) return step;
  throw new CommandError('FAILED', `${id} is ${delivery.status}: its first attempt is in progress.`);
}

/** A delivery is read at its endpoint, which its id does not name. */
async function findDelivery(
  client: Client,
  id: string,
  endpoint: string | undefined,
  options: Signal,
): Promise<Delivery & Pick<DataOf<'readDelivery'>, 'eventId' | 'eventType'>> {
  const read = async (receiver: string) => ({
    ...{ webhookId: null, channelId: null },
    ...(await receiverClient(client, receiver).deliveries.get(receiver, id, options)),
  });
  if (endpoint !== undefined) return read(endpoint);
  for await (const { id: webhookId } of client.endpoints.list({ limit: 100 }, options)) {
    try {
      return await read(webhookId);
    } catch (error) {
      if (!isApiError(error, 'NOT_FOUND')) throw error;
    }
  }
  throw new CommandError('FAILED', `No endpoint of the organization has the delivery ${id}.`);
}

function stepFor(
  { id: deliveryId, webhookId: endpointId, channelId, status }: Delivery,
  event: { id: string; type: string; url: string | undefined },
): ResendStep[] {
  const webhookId = endpointId ?? channelId;
  if (webhookId === null || status === 'pending') return [];
  const action = status === 'retrying' ? 'retry' : 'redeliver';
  return [
    { deliveryId, webhookId, url: event.url, eventId: event.id, eventType: event.type, status, action },
  ];
}

/** Sends what was planned. @throws ApiError, for example when an endpoint was disabled meanwhile */
export async function resend(client: Client, step: ResendStep, options: Signal = {}): Promise<Resent> {
  const { webhookId, deliveryId, action } = step;
  const sent = await receiverClient(client, webhookId).deliveries[action](webhookId, deliveryId, options);
  return { ...step, newDeliveryId: sent.id };
}

/** One line for a step. */
export const describeStep = ({
  eventType,
  eventId,
  deliveryId,
  webhookId,
  url,
  status,
  action,
}: ResendStep): string =>
  `${eventType} ${eventId} → ${webhookId}${url === undefined ? '' : ` ${url}`} (${deliveryId} is ${status}: ${
    action === 'retry' ? 'next attempt now' : 'new delivery'
  })`;
