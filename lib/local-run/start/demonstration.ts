import { EventEmitter, on } from 'node:events';
import { UserError } from 'terminal/errors.ts';
import { z } from 'zod';
import type {
  ReceivedDelivery,
  Receiver,
  ReceiverOptions,
} from '../../../packages/cli/src/receiver/receiver.ts';
import type { ListedDelivery } from '../api-client.ts';
import type { Organization } from './organization.ts';

/** Endpoint of the demonstration, which later starts use again. */
interface DemonstrationEndpoint {
  id: string;
  secret: string;
}

/** What later starts use again: with the same port, the endpoint's URL stays. */
export interface KeptDemonstration extends DemonstrationEndpoint {
  port: number;
  organization: Organization;
}

interface DemonstrationApi {
  registerEndpoint(
    endpoint: { url: string; events: readonly string[]; description: string },
    idempotencyKey: string,
  ): Promise<DemonstrationEndpoint>;
  /** @returns whether the endpoint is there and active */
  moveEndpoint(id: string, url: string): Promise<boolean>;
  createConversation(conversation: { channelId: string; externalUserId: string }): Promise<string>;
  deliveriesOf(endpointId: string): Promise<ListedDelivery[]>;
}

export interface DemonstrationOptions {
  api: DemonstrationApi;
  /** Of an earlier start. */
  kept: DemonstrationEndpoint | undefined;
  startReceiver(options: Pick<ReceiverOptions, 'secret' | 'onDelivery'>): Promise<Receiver>;
  /** Time limit of the delivery. */
  timeoutMs: number;
  /** Monotonic milliseconds. */
  now(): number;
  newIdempotencyKey(): string;
  /** Aborts when the user stops the program. */
  signal: AbortSignal;
}

export interface Demonstrated {
  /** From the request that creates the conversation to its response. */
  requestMs: number;
  arrival:
    | {
        kind: 'seen';
        /** From the response to the delivery; 0 when the delivery overtook it. */
        deliveryMs: number;
        delivery: ReceivedDelivery;
      }
    /** Not within the time limit, which does not mean that it will not come. */
    | { kind: 'missing'; reason: string };
  /** Stays registered, with its deliveries. */
  endpoint: DemonstrationEndpoint;
  /** Goes on answering, so that the endpoint's later deliveries succeed. */
  receiver: Receiver;
}

const DESCRIPTION = 'The receiver that npm start runs';
const EVENT = 'conversation.created';
const PATH = '/demonstration';
const Body = z.object({ type: z.string(), data: z.object({ conversationId: z.string() }) });

interface Arrival {
  at: number;
  delivery: ReceivedDelivery;
}

/**
 * Starts a receiver, registers it or moves the endpoint of an earlier start to it, creates a conversation and
 * waits for its event's delivery. Endpoint and receiver stay.
 * @throws UserError naming the failed step; the receiver is stopped then. A late delivery is no failure
 */
export async function demonstrate(options: DemonstrationOptions): Promise<Demonstrated> {
  const arrivals = new EventEmitter();
  const secret = Promise.withResolvers<string>();
  const receiver = await options.startReceiver({
    secret: secret.promise,
    onDelivery: (delivery) => arrivals.emit('arrival', { at: options.now(), delivery } satisfies Arrival),
  });
  try {
    const endpoint = await placeEndpoint(options, `${receiver.url}${PATH}`);
    secret.resolve(endpoint.secret);
    return { ...(await createAndAwait(options, endpoint.id, arrivals)), endpoint, receiver };
  } catch (error) {
    await receiver.stop();
    throw error;
  }
}

/** One that was deleted or disabled since is replaced. */
async function placeEndpoint(
  { api, kept, newIdempotencyKey }: DemonstrationOptions,
  url: string,
): Promise<DemonstrationEndpoint> {
  if (kept !== undefined && (await api.moveEndpoint(kept.id, url))) return kept;
  const { id, secret } = await api.registerEndpoint(
    { url, events: [EVENT], description: DESCRIPTION },
    newIdempotencyKey(),
  );
  return { id, secret };
}

async function createAndAwait(
  options: DemonstrationOptions,
  endpointId: string,
  arrivals: EventEmitter,
): Promise<Omit<Demonstrated, 'endpoint' | 'receiver'>> {
  const deadline = AbortSignal.timeout(options.timeoutMs);
  // Listens before the request: the delivery may arrive before the response.
  const arriving = on(arrivals, 'arrival', { signal: AbortSignal.any([deadline, options.signal]) });

  const askedAt = options.now();
  const conversationId = await options.api.createConversation({
    channelId: 'chn_demonstration',
    externalUserId: 'first-visitor',
  });
  const answeredAt = options.now();

  const requestMs = answeredAt - askedAt;
  const arrival = await nextAbout(conversationId, arriving).catch((error: unknown) => {
    if (!deadline.aborted || options.signal.aborted) throw error;
    return undefined;
  });
  if (arrival === undefined)
    return { requestMs, arrival: { kind: 'missing', reason: await explainMissing(options, endpointId) } };
  const { verification } = arrival.delivery;
  if (verification.kind !== 'verified') {
    const why = verification.kind === 'refused' ? verification.reason : 'there was nothing to check it with';
    throw new UserError(`The delivery arrived, but its signature does not verify: ${why}.`);
  }
  const deliveryMs = Math.max(0, arrival.at - answeredAt);
  return { requestMs, arrival: { kind: 'seen', deliveryMs, delivery: arrival.delivery } };
}

/** Skips events of other callers in the organization. */
async function nextAbout(conversationId: string, arriving: AsyncIterable<Arrival[]>): Promise<Arrival> {
  for await (const [arrival] of arriving) {
    if (arrival !== undefined && isAbout(conversationId, arrival.delivery)) return arrival;
  }
  throw new Error('The receiver ended before the delivery came.');
}

function isAbout(conversationId: string, delivery: ReceivedDelivery): boolean {
  try {
    const body = Body.safeParse(JSON.parse(delivery.body.toString('utf8')));
    return body.success && body.data.type === EVENT && body.data.data.conversationId === conversationId;
  } catch {
    // Not JSON: not from the service.
    return false;
  }
}

async function explainMissing(options: DemonstrationOptions, endpointId: string): Promise<string> {
  const late = `No delivery arrived within ${options.timeoutMs / 1000} s`;
  const [listed] = await options.api.deliveriesOf(endpointId);
  if (listed === undefined) return `${late}, and the API lists none: the event is not fanned out yet.`;
  return `${late}: ${listed.id} is ${listed.status}, its last error: ${listed.lastError ?? 'none'}.`;
}
