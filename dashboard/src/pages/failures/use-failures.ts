import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { answerTo, api, type Environment } from '../../api/client.ts';
import { type Place, readTurns } from './turns.ts';

const PAGE = 100;

/** Which deliveries are read: the failed ones alone, or also those that will be retried. */
export const STATUS_CHOICES = { any: 'exhausted,retrying', exhausted: 'exhausted' } as const;
export type StatusChoice = keyof typeof STATUS_CHOICES;

/**
 * Deliveries of some endpoints that failed, or will be retried.
 * @param from ISO 8601; the same for all pages, whose cursors hold for one filter
 */
export const useFailures = (
  environment: Environment,
  webhookIds: readonly string[],
  { from, status }: { from: string; status: StatusChoice },
) =>
  useInfiniteQuery({
    queryKey: [environment, 'failures', from, status, webhookIds.join()],
    // While more endpoints are read, what is known of the others stays.
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) =>
      readTurns(
        pageParam ?? webhookIds.map((webhookId) => ({ webhookId, cursor: null })),
        async ({ webhookId, cursor }, ended) => {
          const { data, nextCursor } = await answerTo(
            api.GET('/api/settings/webhooks/{id}/deliveries', {
              params: {
                path: { id: webhookId },
                query: {
                  environment,
                  status: STATUS_CHOICES[status],
                  include: 'response',
                  limit: PAGE,
                  from,
                  ...(cursor === null ? {} : { cursor }),
                },
              },
              signal: ended,
            }),
          );
          return { rows: data, next: nextCursor };
        },
        signal,
      ),
    initialPageParam: null as Place[] | null,
    getNextPageParam: ({ rest }) => (rest.length === 0 ? null : rest),
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
