import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { answerTo, api, dataOf, type Schema } from './client.ts';
import { ApiFailure } from './failures.ts';

export type Organization = Schema<'Organization'>;

const ORGANIZATION = ['live', 'organization'] as const;
const MINUTE = 60_000;

export const useOrganization = () =>
  useQuery({
    queryKey: ORGANIZATION,
    queryFn: () => dataOf(api.GET('/api/settings/organization')),
  });

export function useUpdateOrganization() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<'UpdateOrganization'>) =>
      dataOf(api.PATCH('/api/settings/organization', { body })),
    onSuccess: (organization) => queries.setQueryData(ORGANIZATION, organization),
  });
}

/**
 * Usage by month.
 * @param months number of months, newest first, the current one included
 */
export const useUsage = (months: number) =>
  useQuery({
    queryKey: ['live', 'usage', months],
    queryFn: async () =>
      (await dataOf(api.GET('/api/settings/usage', { params: { query: { months } } }))).months,
    refetchInterval: MINUTE,
    placeholderData: keepPreviousData,
  });

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

export type Sandbox = Schema<'Sandbox'>;

const SECOND = 1000;
const SANDBOX = ['live', 'sandbox'] as const;

/** The organization's sandbox, null where it has none; followed while something of it is being deleted. */
export const useSandbox = () =>
  useQuery({
    queryKey: SANDBOX,
    queryFn: async (): Promise<Sandbox | null> => {
      try {
        return await dataOf(api.GET('/api/settings/sandbox'));
      } catch (error) {
        if (error instanceof ApiFailure && error.type === 'NOT_FOUND') return null;
        throw error;
      }
    },
    refetchInterval: ({ state }) => (state.data?.purge ? 2 * SECOND : false),
  });

/** Creates the sandbox if there is none, and a key for it; as `useCreateKey`, one each time. */
export function useProvision() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: KeyTerms) => dataOf(api.POST('/api/settings/sandbox/provision', { body })),
    gcTime: 0,
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['live', 'api-keys'] });
      void queries.invalidateQueries({ queryKey: SANDBOX });
      // What was refused while there was none.
      void queries.resetQueries({ queryKey: ['sandbox'] });
    },
  });
}

export function useReset() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => dataOf(api.POST('/api/settings/sandbox/reset')),
    onSuccess: async () => {
      queries.removeQueries({ queryKey: ['sandbox'] });
      await queries.invalidateQueries({ queryKey: SANDBOX });
    },
  });
}
