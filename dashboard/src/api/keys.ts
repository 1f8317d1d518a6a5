import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { answerTo, api, dataOf, type Schema } from './client.ts';

export type ApiKey = Schema<'ApiKey'>;
export type KeyTerms = Schema<'CreateApiKey'>;

const PAGE = 100;
const KEYS = ['live', 'api-keys'] as const;

/** Keys of the organization and its sandbox, newest first. Admins only. */
export const useKeys = (isEnabled = true) =>
  useInfiniteQuery({
    queryKey: KEYS,
    enabled: isEnabled,
    queryFn: ({ pageParam }) =>
      answerTo(
        api.GET('/api/settings/api-keys', {
          params: { query: { limit: PAGE, ...(pageParam === null ? {} : { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** Creates a key. A repetition creates another one, because only a digest of the secret is stored. */
export function useCreateKey() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: KeyTerms) => dataOf(api.POST('/api/settings/api-keys', { body })),
    // The secret goes with the dialog that shows it.
    gcTime: 0,
    // Also after a failure: the key may exist. The result is shown without waiting for the list.
    onSettled: () => void queries.invalidateQueries({ queryKey: KEYS }),
  });
}

export function useRevokeKey(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => answerTo(api.DELETE('/api/settings/api-keys/{id}', { params: { path: { id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: KEYS }),
  });
}
