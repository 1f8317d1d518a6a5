import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyringSource } from '../aws/keyrings.ts';
import { isExample } from '../events/events.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import { SLOW_AFTER_SECONDS, SLOW_TO_CONNECT_SECONDS } from '../receivers/pace.ts';
import { checkReceiverUrl, type ReceiverPolicy } from '../receivers/receiver-url.ts';
import type { Gate } from '../tenancy/gate.ts';
import {
  type AttemptOutcome,
  type Delivery,
  forbid,
  type SendAttempt,
  type WebhookRequest,
} from './delivery.ts';
import type { ReceiverClient } from './outbound/client.ts';
import { completeHeaders, type OutboundRequest, type OutboundResult } from './outbound/exchange.ts';
import { getSigningKey, sign } from './signature.ts';
import { parseProgram, simulate } from './simulation.ts';

/**
 * Gets the key and the permit of an attempt, and then sends it by Standard Webhooks: the stored bytes, signed
 * with the attempt's time (docs/specification.md, Signatures). A sandbox's delivery takes the same path up to
 * the gate, then goes to a simulated receiver.
 */
export function webhookSender({
  gate,
  outbound,
  simulated,
  signingKeys,
  refreshBlocks,
  userAgent,
  now,
}: {
  gate: Gate;
  outbound: Pick<ReceiverClient, 'post'>;
  simulated: ReturnType<typeof simulatedReceiver>;
  signingKeys: KeyringSource;
  /** Reads the blocked hosts again when they are old. */
  refreshBlocks: () => Promise<unknown>;
  userAgent: string;
  now: () => Date;
}) {
  type Post = (request: OutboundRequest, attempt: number, onWritten: () => void) => Promise<AttemptOutcome>;

  return async ({ orgId }: Pick<Delivery, 'orgId'>, endpoint: Endpoint): Promise<SendAttempt> => {
    const url = new URL(endpoint.url);
    const [key, post] = await Promise.all([
      signingKeys((ring) => getSigningKey(ring, endpoint.keyVersion, endpoint.id)),
      gate<Post>(orgId, {
        live: async (permit) => async (request, _attempt, onWritten) =>
          toOutcome(await outbound.post(request, permit, onWritten)),
        sandbox: async () => async (request, attempt, onWritten) => {
          onWritten();
          const { result, request: kept } = await simulated.post(request, attempt);
          return { ...toOutcome(result), simulated: kept };
        },
      }),
      refreshBlocks(),
    ]);
    return (delivery, event, onSlow) => {
      const body = Buffer.from(event.body, 'utf8');
      const timestamp = Math.floor(now().getTime() / 1000);
      const request: OutboundRequest = {
        url,
        body,
        headers: {
          'content-type': 'application/json',
          'user-agent': userAgent,
          'webhook-id': event.id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': sign(key, event.id, timestamp, body),
          'webhook-delivery-id': delivery.id,
          'webhook-attempt': String(delivery.attempts),
          'webhook-endpoint-id': endpoint.id,
          ...(isExample(event) ? { 'webhook-example': 'true' } : {}),
        },
      };
      const slowTimer = createTimer(onSlow);
      slowTimer.set(SLOW_TO_CONNECT_SECONDS);
      const onWritten = () => slowTimer.set(SLOW_AFTER_SECONDS);
      return post(request, delivery.attempts, onWritten).finally(slowTimer.cancel);
    };
  };
}

/** Calls back once, after the time that was set last. */
function createTimer(callback: () => void) {
  let pending: NodeJS.Timeout | undefined;
  let isOver = false;
  const cancel = () => {
    isOver = true;
    clearTimeout(pending);
  };
  return {
    set(seconds: number): void {
      clearTimeout(pending);
      if (isOver) return;
      pending = setTimeout(() => {
        cancel();
        callback();
      }, seconds * 1000);
    },
    cancel,
  };
}

function toOutcome(result: OutboundResult): AttemptOutcome {
  if (result.kind === 'failed') return { error: result.error, errorCode: result.errorCode };
  const { status, body, retryAfter } = result;
  if (status >= 200 && status < 300) return { status };
  const hold = retryAfter !== undefined && HOLDS.includes(status) ? { retryAfter } : {};
  const errorCode = REDIRECTS.includes(status) ? 'redirect' : 'http_status';
  return { status, error: `the receiver answered ${status}`, errorCode, response: body, ...hold };
}

/** Statuses by which a receiver asks for time: too many requests, and unavailable. */
const HOLDS: readonly number[] = [429, 503];
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Replaces the network for sandboxes: a receiver that follows the program in the endpoint's URL. It opens no
 * connection.
 * @param timeoutMs deadline of an attempt at real speed
 */
export function simulatedReceiver({
  policy,
  timeoutMs,
  wait = sleep,
}: {
  policy: ReceiverPolicy;
  timeoutMs: number;
  wait?: (ms: number) => Promise<unknown>;
}) {
  return {
    /** @returns the result, and the request that would have been sent */
    async post(
      request: OutboundRequest,
      attempt: number,
    ): Promise<{ result: OutboundResult; request: WebhookRequest }> {
      const sentRequest: WebhookRequest = {
        method: 'POST',
        url: request.url.href,
        headers: completeHeaders(request),
        body: Buffer.from(request.body).toString('utf8'),
      };
      const check = checkReceiverUrl(request.url.href, policy);
      if (!check.ok)
        return { result: { kind: 'failed', ...forbid(check), durationMs: 0 }, request: sentRequest };
      const program = parseProgram(request.url.href);
      const { afterMs, ...answer } = simulate(program, attempt, timeoutMs);
      const durationMs = afterMs / program.speed;
      if (durationMs > 0) await wait(durationMs);
      const result: OutboundResult =
        'status' in answer
          ? { kind: 'answered', status: answer.status, durationMs, body: '' }
          : { kind: 'failed', ...answer, durationMs };
      return { result, request: sentRequest };
    },
  };
}
