import { useQuery } from '@tanstack/react-query';
import { answerTo, api } from './client.ts';
import { EVENT_TYPES } from './event-types.ts';
import { readIsTested } from './webhooks.ts';

/** Endpoints whose tests are looked for: an organization that has more is past its first steps. */
const MAX_ENDPOINTS = 3;
/** Events among which one that was no example is looked for. */
const MAX_EVENTS = 20;
const LOOK_MS = 10_000;

/** Whether a test has arrived at one of the endpoints. */
const isTested = async (webhookIds: readonly string[]): Promise<boolean> =>
  (await Promise.all(webhookIds.slice(0, MAX_ENDPOINTS).map((id) => readIsTested('live', id)))).includes(
    true,
  );

/** Whether there was an event that was no example: a program has used the API. */
async function isLive(): Promise<boolean> {
  const query = { environment: 'live', type: EVENT_TYPES.join(','), limit: MAX_EVENTS } as const;
  const { data } = await answerTo(api.GET('/api/settings/events', { params: { query } }));
  return data.some(({ example }) => example === undefined);
}

/**
 * What of the first steps the API knows, followed until all of it is done.
 * @param isWanted whether the steps are shown
 */
export const useProgress = (webhookIds: readonly string[], isWanted: boolean) =>
  useQuery({
    queryKey: ['live', 'first-steps', webhookIds],
    enabled: isWanted,
    // Read again by the page that a step leads back to.
    staleTime: 0,
    queryFn: async () => {
      const [test, live] = await Promise.all([isTested(webhookIds), isLive()]);
      return { test, live };
    },
    refetchInterval: ({ state }) => (state.data?.test && state.data.live ? false : LOOK_MS),
    // While another endpoint is added, what is known of the others stays.
    placeholderData: (before) => before,
  });
