import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, dataOf, type Schema } from './client.ts';

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
