import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { answerTo, api, dataOf, type Environment, type Schema } from './client.ts';
import { isGone } from './failures.ts';
import { useIdempotencyKeys } from './idempotency.ts';
import { pathOf, withReceiver } from './receivers.ts';

export type Job = Schema<'Redelivery'>;
/** What a job is asked to resend, or with `dryRun` to count. */
export type JobOrder = Schema<'StartRedelivery'>;

const PATH = '/api/settings/webhooks/{id}/redeliveries';
const LOOK_MS = 2_000;
/** A count is short, and the user waits for it. */
const COUNT_LOOK_MS = 500;
const IDLE_LOOK_MS = 10_000;
const SHOWN = 10;

/** The last jobs of an endpoint or channel, newest first, followed while one is running. */
export const useJobs = (environment: Environment, id: string) =>
  useQuery({
    queryKey: [environment, 'redeliveries', id],
    queryFn: async () => {
      const params = { path: { id }, query: { environment, limit: SHOWN } };
      return (await dataOf(api.GET(pathOf(id, PATH), { params }))).map((job) => withReceiver(job, id));
    },
    refetchInterval: ({ state: { data, error } }) => {
      if (isGone(error)) return false;
      const running = data?.find(({ status }) => status === 'running');
      if (running === undefined) return IDLE_LOOK_MS;
      return running.dryRun ? COUNT_LOOK_MS : LOOK_MS;
    },
  });

/** Starts a job, once, however often that is asked for until it succeeds. */
export function useStartJob(environment: Environment, id: string) {
  const queries = useQueryClient();
  const keys = useIdempotencyKeys();
  return useMutation({
    mutationFn: async (body: JobOrder) =>
      (
        await keys.once(body, (header) =>
          answerTo(
            api.POST(pathOf(id, PATH), { params: { path: { id }, query: { environment }, header }, body }),
          ),
        )
      ).data,
    // Also after a refusal: another tab may have started one.
    onSettled: () => queries.invalidateQueries({ queryKey: [environment, 'redeliveries', id] }),
  });
}

export function useStopJob(environment: Environment, { id, webhookId }: Pick<Job, 'id' | 'webhookId'>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      answerTo(
        api.DELETE(pathOf(webhookId, '/api/settings/webhooks/{id}/redeliveries/{redeliveryId}'), {
          params: { path: { id: webhookId, redeliveryId: id }, query: { environment } },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: [environment, 'redeliveries', webhookId] }),
  });
}
