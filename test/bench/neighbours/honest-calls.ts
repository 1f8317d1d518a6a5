import type { Answered, PlannedCall } from './client.ts';
import type { Place } from './place.ts';

const isRefused = ({ status }: Answered): boolean => status === 0 || status === 429 || status >= 500;

/**
 * The results of honest organizations' calls: the time from when each should have been sent to its answer.
 * Refused calls have no time.
 */
export function answersOf(answered: readonly Answered[]) {
  const unexpected = answered.find((one) => !isRefused(one) && one.status >= 300);
  if (unexpected !== undefined) throw new Error(`an honest call was answered ${unexpected.status}`);
  const refused = answered.filter(isRefused).length;
  return {
    'call to answer': answered
      .filter((one) => !isRefused(one))
      .map(({ intendedAt, answeredAt }) => answeredAt - intendedAt),
    refused,
  };
}

/**
 * Makes calls of the honest organizations by the clock, and measures each from when it should have been sent.
 */
export async function makeHonestCalls(
  { client }: Place,
  calls: readonly PlannedCall[],
  { perSecond, seconds }: { perSecond: number; seconds: number },
) {
  const count = Math.ceil(perSecond * seconds);
  const answered = await client.start({ kind: 'calls', calls, perSecond, count }).result;
  const { refused, ...samples } = answersOf(answered);
  return { samples, calls: count, refused, missing: 0 };
}

/** The results of the hostile organization's calls, as text. */
export function summarize(answered: readonly Answered[]): string {
  const counts = Map.groupBy(answered, ({ status }) => status);
  const parts = [...counts].map(([status, some]) => `${some.length} x ${status}`).sort();
  return `${answered.length} calls (${parts.join(', ')})`;
}
