import { setTimeout as sleep } from 'node:timers/promises';
import { until } from 'aws-local/test/until.ts';
import type { Exchange } from './exchange.ts';
import type { Service } from './service.ts';

/** Far more minutes than a test waits for. */
const MAX_TRIES = 100;

/**
 * Sends a request until an answer has a rate limit: the limiter lets a request pass that it cannot count
 * within half a second.
 */
export const untilCounted = <Counted extends { headers: Record<string, unknown> }>(
  send: () => Promise<Counted>,
): Promise<Counted> =>
  until('an answer that was counted', async () => {
    const answer = await send();
    return answer.headers.ratelimit !== undefined && answer;
  });

/**
 * Uses up a caller's budget of a minute: sets its rate windows to full, because hundreds of requests would
 * take longer than most tests.
 * @param send one request of the caller
 * @param window text of the keys of the caller's rate windows
 * @param seconds that the minute must still have afterwards: otherwise a new one could begin
 * @returns the refusal
 */
export async function useUp(
  { rows, rewrite }: Pick<Service, 'rows' | 'rewrite'>,
  send: () => Promise<Exchange>,
  window: string,
  seconds: number,
): Promise<Exchange> {
  for (let tried = 0; tried < MAX_TRIES; tried += 1) {
    const answer = await send();
    if (answer.status !== 429) {
      for (const row of await rows([window]))
        if (row.table.includes('Rates')) await rewrite({ ...row, item: { ...row.item, used: 1_000_000 } });
      continue;
    }
    const left = Number(answer.headers['retry-after']);
    if (left > seconds) return answer;
    await sleep(left * 1000);
  }
  throw new Error('a budget could not be used up');
}
