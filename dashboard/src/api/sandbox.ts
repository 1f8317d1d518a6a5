import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, dataOf, type Schema } from './client.ts';
import { ApiFailure } from './failures.ts';
import type { KeyTerms } from './keys.ts';

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

/** Deletes the data of the sandbox. */
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
