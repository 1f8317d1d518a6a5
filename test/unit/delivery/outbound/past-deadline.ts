import { onTestFinished, vi } from 'vitest';
import type { OutboundResult } from '../../../../functions/delivery/outbound/client.ts';
import { exchange } from '../../../../functions/delivery/outbound/exchange.ts';
import { localAgent, type Receiver } from './receivers.ts';

/**
 * The result of a post whose deadline passes as soon as headers have arrived, together with what the receiver
 * wrote in one piece with them. The timer is moved by hand, because on a busy machine it could fire earlier.
 */
export async function postPastDeadline(receiver: Receiver): Promise<OutboundResult> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });

  // The clock is read when the post begins, and again when its headers have arrived.
  const headersArrived = Promise.withResolvers<void>();
  let readings = 0;
  const now = () => {
    readings += 1;
    if (readings === 2) headersArrived.resolve();
    return 0;
  };
  const request = { url: receiver.url('127.0.0.1'), headers: {}, body: new Uint8Array() };
  const result = exchange(request, { agent: localAgent(), timeoutMs: 60_000, now });
  await headersArrived.promise;
  await new Promise((later) => setImmediate(later));
  vi.advanceTimersByTime(60_000);
  return result;
}
