import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../support/api.ts';

/** The outcomes of the calls. */
export interface Load {
  /** Messages that were answered with 201: their events must be delivered. */
  accepted: Set<string>;
  /** Answers other than 201, by status; `none` where the connection broke, so that the outcome is unknown. */
  others: Map<string, number>;
}

/** Posts one message. One without an answer need not be delivered, and may be. */
export async function postMessage(
  { accepted, others }: Load,
  client: ApiClient,
  conversation: string,
): Promise<void> {
  const count = (name: string) => others.set(name, (others.get(name) ?? 0) + 1);
  try {
    const { status, body } = await client.post(`/api/v1/conversations/${conversation}/messages`, {
      role: 'user',
      content: 'hello',
    });
    if (status === 201) accepted.add(String(body.data?.id));
    else count(String(status));
  } catch {
    count('none');
  }
}

/**
 * Posts messages at a steady rate until it is stopped.
 * @param api gives the client of the current run
 */
export async function post(
  load: Load,
  api: () => { client: ApiClient; conversation: string } | undefined,
  { perSecond, signal }: { perSecond: number; signal: AbortSignal },
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  while (!signal.aborted) {
    const now = api();
    if (now !== undefined && underWay.size < 64) {
      const call = postMessage(load, now.client, now.conversation).finally(() => underWay.delete(call));
      underWay.add(call);
    }
    await sleep(1000 / perSecond);
  }
  await Promise.all(underWay);
}
