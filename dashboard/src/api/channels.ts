import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, dataOf, type Environment, type Schema } from './client.ts';
import { isGone } from './failures.ts';

export type Channel = Schema<'HttpChannel'> | Schema<'WebWidgetChannel'>;

/** More than an organization can have. */
const ALL_CHANNELS = 100;
const LOOK_MS = 10_000;

export const useChannels = (environment: Environment) =>
  useQuery({
    queryKey: [environment, 'channels'],
    queryFn: () =>
      dataOf(api.GET('/api/settings/channels', { params: { query: { environment, limit: ALL_CHANNELS } } })),
    refetchInterval: LOOK_MS,
  });

export const useChannel = (environment: Environment, id: string) =>
  useQuery({
    queryKey: [environment, 'channels', id],
    queryFn: () =>
      dataOf(api.GET('/api/settings/channels/{id}', { params: { path: { id }, query: { environment } } })),
    refetchInterval: ({ state }) => !isGone(state.error) && LOOK_MS,
  });

export function usePause(environment: Environment, id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: { paused: boolean }) =>
      dataOf(
        api.PATCH('/api/settings/channels/{id}', {
          params: { path: { id }, query: { environment } },
          body,
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: [environment] }),
  });
}
