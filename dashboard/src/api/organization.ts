import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { answerTo, api, type Schema } from './client.ts';

export type Organization = Schema<'Organization'>;

const ORGANIZATION = ['live', 'organization'] as const;
const MINUTE = 60_000;

export const useOrganization = () =>
  useQuery({
    queryKey: ORGANIZATION,
    queryFn: async () => (await answerTo(api.GET('/api/settings/organization'))).data,
  });

export function useUpdateOrganization() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (body: Schema<'UpdateOrganization'>) =>
      (await answerTo(api.PATCH('/api/settings/organization', { body }))).data,
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
      (await answerTo(api.GET('/api/settings/usage', { params: { query: { months } } }))).data.months,
    refetchInterval: MINUTE,
    placeholderData: keepPreviousData,
  });
