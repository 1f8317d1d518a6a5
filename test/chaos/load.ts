import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../support/api.ts';

/** What came of the calls that were made. */
export interface Load {
  /** Messages whose recording was answered with 201: their events are owed. */
  accepted: Set<string>;
  /** Answers other than 201, by status; `none` where the connection broke, so that nobody knows. */
  others: Map<string, number>;
}

/** Posts one message. What is not answered is not owed, and may have been recorded all the same. */
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
 * Posts messages at a steady rate until it is told to stop.
 * @param api gives the client for the run as it is now
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
