import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookRequest } from '../domain/delivery.ts';
import { checkReceiverUrl, type ReceiverPolicy } from '../domain/receiver-url.ts';
import { programOf, simulate } from '../domain/simulation.ts';
import { headersOnTheWire, type OutboundRequest, type OutboundResult } from './outbound/exchange.ts';

interface SimulatedExchange {
  result: OutboundResult;
  /** What would have gone out. */
  request: WebhookRequest;
  /** How long it would have taken at real speed. */
  durationMs: number;
}

export interface SimulatedReceiver {
  post(request: OutboundRequest, attempt: number): Promise<SimulatedExchange>;
}

/**
 * What the requests of a sandbox meet instead of a network: a receiver that does what the endpoint's URL says, on the same terms as a real one.
 * It opens nothing and calls nobody.
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
}): SimulatedReceiver {
  return {
    async post(request, attempt) {
      const written: WebhookRequest = {
        method: 'POST',
        url: request.url.href,
        headers: headersOnTheWire(request),
        body: Buffer.from(request.body).toString('utf8'),
      };
      const check = checkReceiverUrl(request.url.href, policy);
      if (!check.ok)
        return {
          result: { kind: 'failed', error: check.problem, durationMs: 0 },
          request: written,
          durationMs: 0,
        };
      const program = programOf(request.url.href);
      const { afterMs: durationMs, ...answer } = simulate(program, attempt, timeoutMs);
      if (durationMs > 0) await wait(durationMs / program.speed);
      const result: OutboundResult =
        'status' in answer
          ? { kind: 'answered', status: answer.status, durationMs, body: '' }
          : { kind: 'failed', error: answer.error, durationMs };
      return { result, request: written, durationMs };
    },
  };
}
