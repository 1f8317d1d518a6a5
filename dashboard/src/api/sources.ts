import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { answerTo, api, dataOf, type Environment, type Schema } from './client.ts';

export type Source = Schema<'Source'>;

const PAGE = 100;
const SECOND = 1000;
/** Polling interval while a check is running, and otherwise: checks run once an hour. */
const OFTEN = SECOND;
const SELDOM = 30 * SECOND;

export const useSources = (environment: Environment) =>
  useInfiniteQuery({
    queryKey: [environment, 'sources'],
    queryFn: ({ pageParam }) =>
      answerTo(
        api.GET('/api/settings/knowledge/sources', {
          params: {
            query: { environment, limit: PAGE, ...(pageParam === null ? {} : { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some(({ status }) => status === 'pending'))
        ? 2 * OFTEN
        : SELDOM,
  });

/**
 * One source.
 * @param isChecked whether a check is running, so that its end shows at once
 */
export const useSource = (environment: Environment, id: string, isChecked: boolean) =>
  useQuery({
    queryKey: [environment, 'sources', id],
    queryFn: () =>
      dataOf(
        api.GET('/api/settings/knowledge/sources/{id}', {
          params: { path: { id }, query: { environment } },
        }),
      ),
    refetchInterval: ({ state }) => (isChecked || state.data?.status === 'pending' ? OFTEN : SELDOM),
  });

/** Changes since admins were last notified; read again for another version or notification. */
export const useChanges = (
  environment: Environment,
  { id, version, lastNotifiedAt }: Pick<Source, 'id' | 'version' | 'lastNotifiedAt'>,
) =>
  useQuery({
    queryKey: [environment, 'sources', id, 'changes', version, lastNotifiedAt],
    queryFn: () =>
      dataOf(
        api.GET('/api/settings/knowledge/sources/{id}/changes', {
          params: { path: { id }, query: { environment } },
        }),
      ),
  });

/** The imported text of a version; before the first import there is none. */
export const useContent = (environment: Environment, { id, version }: Pick<Source, 'id' | 'version'>) =>
  useQuery({
    queryKey: [environment, 'sources', id, 'content', version],
    queryFn: () =>
      dataOf(
        api.GET('/api/settings/knowledge/sources/{id}/content', {
          params: { path: { id }, query: { environment } },
        }),
      ),
    enabled: version !== null,
  });

type Keyed = { key: { 'Idempotency-Key': string } };

export function useAddSource(environment: Environment) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ key, ...body }: Keyed & Schema<'CreateSource'>) =>
      dataOf(
        api.POST('/api/settings/knowledge/sources', {
          params: { query: { environment }, header: key },
          body,
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: [environment, 'sources'] }),
  });
}

/** Asks for a check now. @returns the source as it was before */
export const useSync = (environment: Environment, id: string) =>
  useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/api/settings/knowledge/sources/{id}/sync', {
          params: { path: { id }, query: { environment } },
        }),
      ),
  });

export function useDeleteSource(environment: Environment, id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      answerTo(
        api.DELETE('/api/settings/knowledge/sources/{id}', {
          params: { path: { id }, query: { environment } },
        }),
      ),
    onSuccess: () => {
      queries.removeQueries({ queryKey: [environment, 'sources', id] });
      return queries.invalidateQueries({ queryKey: [environment, 'sources'] });
    },
  });
}
