import { type Client, type DataOf, isApiError } from '../../../sdk/src/index.ts';
import { CommandError } from '../errors.ts';

type Delivery = DataOf<'readEvent'>['deliveries'][number] | DataOf<'readDelivery'>;

/** What is going to be sent. */
export interface ResendStep {
  deliveryId: string;
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
  const latest = new Map(
    deliveries.flatMap((delivery) => (delivery.webhookId === null ? [] : [[delivery.webhookId, delivery]])),
  );
  const steps = [...latest.values()]
    .filter(({ webhookId, receiverStatus }) =>
      endpoint === undefined ? receiverStatus === 'active' : webhookId === endpoint,
    )
    .flatMap((delivery) => stepFor(delivery, { id, type, url: delivery.url ?? undefined }));
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
): Promise<DataOf<'readDelivery'>> {
  if (endpoint !== undefined) return client.deliveries.get(endpoint, id, options);
  for await (const { id: webhookId } of client.endpoints.list({ limit: 100 }, options)) {
    try {
      return await client.deliveries.get(webhookId, id, options);
    } catch (error) {
      if (!isApiError(error, 'NOT_FOUND')) throw error;
    }
  }
  throw new CommandError('FAILED', `No endpoint of the organization has the delivery ${id}.`);
}

function stepFor(
  { id: deliveryId, webhookId, status }: Delivery,
  event: { id: string; type: string; url: string | undefined },
): ResendStep[] {
  if (webhookId === null || status === 'pending') return [];
  const action = status === 'retrying' ? 'retry' : 'redeliver';
  return [
    { deliveryId, webhookId, url: event.url, eventId: event.id, eventType: event.type, status, action },
  ];
}

/** Sends what was planned. @throws ApiError, for example when an endpoint was disabled meanwhile */
export async function resend(client: Client, step: ResendStep, options: Signal = {}): Promise<Resent> {
  const { webhookId, deliveryId, action } = step;
  const sent =
    action === 'retry'
      ? await client.deliveries.retry(webhookId, deliveryId, options)
      : await client.deliveries.redeliver(webhookId, deliveryId, options);
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
