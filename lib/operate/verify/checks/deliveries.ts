import { randomUUID } from 'node:crypto';
import { harmless } from 'terminal/format.ts';
import * as z from 'zod';
import { ConversationId, DeliveryId, EndpointId } from '../../../../functions/aws/ids.ts';
import { DeliveryStatus, OPEN_STATUSES } from '../../../../functions/delivery/delivery.ts';
import { dataOf, expectStatus } from '../api.ts';
import { type Check, CheckFailed, CheckSkipped } from '../check.ts';
import { need, type VerifyContext } from '../context.ts';

/** Receives nothing: a sandbox's deliveries go to its simulated receiver. */
const SANDBOX_URL = 'https://example.com/verification';
/** First and longest wait between two reads of a delivery: a sandbox has 60 requests a minute. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;

const Identified = z.object({ id: z.string() });
const Registered = z.object({ id: EndpointId });
const Tested = z.object({ deliveryId: DeliveryId });
const Delivery = z.object({
  id: DeliveryId,
  status: DeliveryStatus,
  attempts: z.number(),
  lastError: z.string().nullable(),
  lastResponseStatus: z.number().nullable(),
});
type Delivery = z.infer<typeof Delivery>;
const Attempted = Delivery.extend({ attemptLog: z.array(z.object({ status: z.number().nullable() })) });

/** Delivery lifecycle of an event, in the sandbox and, with a receiver, outside. */
export const deliveryChecks = (context: VerifyContext): Check[] => [
  { name: 'Register an endpoint in the sandbox', run: () => register(context) },
  { name: 'Deliver an event in the sandbox', run: () => deliver(context) },
  { name: 'Read the delivery back', run: () => readBack(context) },
  { name: 'Delete the endpoint', run: () => remove(context) },
  { name: 'Read a conversation as a visitor', run: () => visit(context) },
  { name: 'Deliver an event to the receiver', run: () => deliverLive(context) },
];

async function register({ api, made }: VerifyContext): Promise<string> {
  const { key } = need(made, 'sandbox');
  made.endpoint = await registerAt(api, key, SANDBOX_URL);
  return made.endpoint;
}

async function registerAt(api: VerifyContext['api'], key: string, url: string): Promise<EndpointId> {
  const answer = await api({
    method: 'POST',
    path: 'v1/webhooks',
    bearer: key,
    headers: { 'idempotency-key': randomUUID() },
    body: { url, events: ['conversation.created'] },
  });
  return dataOf(answer, 201, Registered).id;
}

async function deliver(context: VerifyContext): Promise<string> {
  const { api, made } = context;
  const { key } = need(made, 'sandbox');
  const endpoint = need(made, 'endpoint');
  const body = { channelId: 'verification', externalUserId: 'verification' };
  const created = await api({ method: 'POST', path: 'v1/conversations', bearer: key, body });
  dataOf(created, 201, Identified);
  const delivery = await waitForDelivery(context, async () => {
    const answer = await api({ method: 'GET', path: `v1/webhooks/${endpoint}/deliveries`, bearer: key });
    return dataOf(answer, 200, z.array(Delivery))[0];
  });
  made.delivery = delivery.id;
  return `${delivery.status}, ${delivery.id}`;
}

/**
 * Reads a delivery until it ends.
 * @throws CheckFailed with its state, when it does not succeed in time
 */
async function waitForDelivery(
  { clock, sleep, waitMs }: VerifyContext,
  read: () => Promise<Delivery | undefined>,
): Promise<Delivery> {
  const startedAt = clock();
  for (;;) {
    const delivery = await read();
    if (delivery !== undefined && !OPEN_STATUSES.some((open) => open === delivery.status)) {
      if (delivery.status === 'succeeded') return delivery;
      throw new CheckFailed(describe(delivery));
    }
    const waited = clock() - startedAt;
    if (waited >= waitMs)
      throw new CheckFailed(
        delivery === undefined
          ? `The event has no delivery after ${waitMs / 1000} s: the fan-out did not create it.`
          : `After ${waitMs / 1000} s ${describe(delivery)}`,
      );
    await sleep(Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, waited / 2), waitMs - waited));
  }
}

const describe = ({ id, status, attempts, lastError, lastResponseStatus }: Delivery): string =>
  `${id} is ${status} after ${attempts} attempts, last response ${lastResponseStatus ?? 'none'}, last error ${harmless(lastError ?? 'none')}.`;

async function readBack({ api, made }: VerifyContext): Promise<string> {
  const { key } = need(made, 'sandbox');
  const [endpoint, delivery] = [need(made, 'endpoint'), need(made, 'delivery')];
  const path = `v1/webhooks/${endpoint}/deliveries/${delivery}`;
  const answer = await api({ method: 'GET', path, bearer: key });
  const { attemptLog } = dataOf(answer, 200, Attempted);
  if (attemptLog.at(-1)?.status !== 200)
    throw new CheckFailed(`${answer.call} shows no attempt that was answered 200.`);
  return `200, ${attemptLog.length} ${attemptLog.length === 1 ? 'attempt' : 'attempts'}`;
}

async function remove({ api, made }: VerifyContext): Promise<string> {
  const { key } = need(made, 'sandbox');
  const path = `v1/webhooks/${need(made, 'endpoint')}`;
  expectStatus(await api({ method: 'DELETE', path, bearer: key }), 204);
  return '204';
}

async function visit({ api, made }: VerifyContext): Promise<string> {
  const { key } = need(made, 'sandbox');
  const post = async <T>(path: string, body: unknown, schema: z.ZodType<T>) =>
    dataOf(await api({ method: 'POST', path, bearer: key, body }), 201, schema);
  const channel = await post('v1/channels', { kind: 'web_widget', name: 'Verification' }, Identified);
  const conversation = await post(
    'v1/conversations',
    { channelId: channel.id, externalUserId: 'verification' },
    z.object({ id: ConversationId }),
  );
  const { token } = await post(
    `v1/conversations/${conversation.id}/visitor-token`,
    undefined,
    z.object({ token: z.string() }),
  );
  const answer = await api({ method: 'GET', path: 'v1/widget/messages', bearer: token });
  dataOf(answer, 200, z.array(z.unknown()));
  return '200';
}

async function deliverLive(context: VerifyContext): Promise<string> {
  const { api, made, receiver } = context;
  if (receiver === undefined) throw new CheckSkipped('needs a receiver: --receiver https://…');
  const { key } = need(made, 'organization');
  const endpoint = await registerAt(api, key, receiver);
  const tested = await api({
    method: 'POST',
    path: `v1/webhooks/${endpoint}/test`,
    bearer: key,
    headers: { 'idempotency-key': randomUUID() },
  });
  const { deliveryId } = dataOf(tested, 202, Tested);
  const path = `v1/webhooks/${endpoint}/deliveries/${deliveryId}`;
  const delivery = await waitForDelivery(context, async () => {
    const answer = await api({ method: 'GET', path, bearer: key });
    return answer.status === 404 ? undefined : dataOf(answer, 200, Delivery);
  });
  return `${delivery.status} with ${delivery.lastResponseStatus}, ${delivery.id}`;
}
