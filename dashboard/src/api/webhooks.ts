import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { answerTo, api, dataOf, type Environment, type Schema, timed } from './client.ts';
import type { EventType } from './event-types.ts';
import { isGone } from './failures.ts';
import { type Key, useIdempotencyKeys } from './idempotency.ts';
import { followIn } from './pace.ts';
import { pathOf, withReceiver } from './receivers.ts';
import { serviceNow } from './service-clock.ts';

export type Endpoint = Schema<'Webhook'>;
/** An endpoint, or a channel whose messages are sent to a URL. */
export type Receiver = Pick<Endpoint, 'id' | 'url' | 'status' | 'description'>;
export type Delivery = Schema<'ListedDelivery'>;
export type DeliveryWithAttempts = Schema<'DeliveryWithAttempts'>;
export type DeliveryStatus = Delivery['status'];

/** More than an organization can have. */
const ALL_ENDPOINTS = 100;
const SECOND = 1000;

/** @param isFollowed whether it is read again and again, and not only when it is shown anew */
export const useEndpoints = (environment: Environment, isFollowed = true) =>
  useQuery({
    queryKey: [environment, 'endpoints'],
    queryFn: () =>
      dataOf(api.GET('/api/settings/webhooks', { params: { query: { environment, limit: ALL_ENDPOINTS } } })),
    ...(isFollowed ? { refetchInterval: 10 * SECOND } : { staleTime: 60 * SECOND }),
  });

export const useEndpoint = (environment: Environment, id: string) =>
  useQuery({
    queryKey: [environment, 'endpoints', id],
    queryFn: () =>
      dataOf(
        api.GET(pathOf(id, '/api/settings/webhooks/{id}'), {
          params: { path: { id }, query: { environment } },
        }),
      ),
    refetchInterval: ({ state }) => !isGone(state.error) && 10 * SECOND,
  });

/**
 * Statistics of all endpoints.
 * @param hours number of hours, the current one included
 */
export const useStats = (environment: Environment, hours: number) =>
  useQuery({
    queryKey: [environment, 'stats', hours],
    queryFn: () =>
      dataOf(api.GET('/api/settings/deliveries/stats', { params: { query: { environment, hours } } })),
    // A day is hundreds of rows where there are many endpoints, a week seven times that.
    refetchInterval: (hours > 25 ? 60 : 15) * SECOND,
    // Those of another time, and never of the other half.
    placeholderData: (before, query) => (query?.queryKey[0] === environment ? before : undefined),
  });

/**
 * Counts of one endpoint's deliveries by hour.
 * @param hours number of hours, the current one included
 */
export const useEndpointStats = (environment: Environment, id: string, hours: number) =>
  useQuery({
    queryKey: [environment, 'endpoints', id, 'stats', hours],
    queryFn: () =>
      dataOf(
        api.GET(pathOf(id, '/api/settings/webhooks/{id}/stats'), {
          params: { path: { id }, query: { environment, hours } },
        }),
      ),
    // Counts lag by a few seconds.
    refetchInterval: 10 * SECOND,
  });

/** As many as disable an endpoint. */
const LAST_FAILURES = 10;

/**
 * The last failed deliveries of an endpoint, newest first.
 * @param until of a disabled endpoint: when it was disabled; what came later was skipped
 * @param failures read again when it changes
 */
export const useLastFailures = (
  environment: Environment,
  { id, until, failures }: { id: string; until: string | null; failures: number },
  isEnabled = true,
) =>
  useQuery({
    queryKey: [environment, 'endpoints', id, 'failures', until, failures],
    enabled: isEnabled,
    queryFn: () =>
      dataOf(
        api.GET(pathOf(id, '/api/settings/webhooks/{id}/deliveries'), {
          params: {
            path: { id },
            query: {
              environment,
              status: 'exhausted',
              limit: LAST_FAILURES,
              ...(until === null ? {} : { to: until }),
            },
          },
        }),
      ),
    staleTime: 60 * SECOND,
  });

/** The test that a registration has sent; undefined until its delivery exists, and where it has sent none. */
export const useFirstTest = (environment: Environment, { id, createdAt }: Endpoint) =>
  useQuery({
    queryKey: [environment, 'endpoints', id, 'first-test'],
    queryFn: async () => {
      const to = new Date(Date.parse(createdAt) + SECOND).toISOString();
      const query = { environment, from: createdAt, to };
      const { data } = await answerTo(
        api.GET(pathOf(id, '/api/settings/webhooks/{id}/deliveries'), { params: { path: { id }, query } }),
      );
      return { test: data.find(({ eventType }) => eventType === 'webhook.test') };
    },
    select: ({ test }) => test,
    refetchInterval: ({ state }) => state.data?.test === undefined && 2 * SECOND,
  });

export async function readIsTested(environment: Environment, id: string): Promise<boolean> {
  const query = { environment, eventType: 'webhook.test', status: 'succeeded', limit: 1 } as const;
  const { data } = await answerTo(
    api.GET('/api/settings/webhooks/{id}/deliveries', { params: { path: { id }, query } }),
  );
  return data.length > 0;
}

/** The same, read again until one has arrived. */
export const useIsTested = (environment: Environment, id: string) =>
  useQuery({
    queryKey: [environment, 'endpoints', id, 'is-tested'],
    queryFn: () => readIsTested(environment, id),
    refetchInterval: ({ state }) => state.data !== true && 2 * SECOND,
  });

/** One delivery with its attempts. @throws ApiFailure */
export async function readDelivery(
  environment: Environment,
  webhookId: string,
  id: string,
  signal: AbortSignal,
): Promise<DeliveryWithAttempts> {
  const params = { path: { id: webhookId, deliveryId: id }, query: { environment } };
  const path = pathOf(webhookId, '/api/settings/webhooks/{id}/deliveries/{deliveryId}');
  return withReceiver((await timed(api.GET(path, { params, signal }))).data, webhookId);
}

/** One delivery with its attempts, followed until it has ended. */
export const useDelivery = (environment: Environment, webhookId: string, id: string) =>
  useQuery({
    queryKey: [environment, 'deliveries', webhookId, id],
    queryFn: ({ signal }) => readDelivery(environment, webhookId, id, signal),
    refetchInterval: ({ state }) => followIn(state.data, serviceNow(), state.error),
  });

/** Registers an endpoint, once, however often that is asked for until it succeeded. */
export function useRegister(environment: Environment) {
  const queries = useQueryClient();
  const keys = useIdempotencyKeys();
  return useMutation({
    mutationFn: async (body: Schema<'RegisterWebhook'>) => {
      const params = { query: { environment } };
      const send = (header: Key) =>
        answerTo(api.POST('/api/settings/webhooks', { params: { ...params, header }, body }));
      return (await keys.once(body, send)).data;
    },
    // The secret goes with the dialog that shows it.
    gcTime: 0,
    // The secret is shown without waiting for the lists.
    onSuccess: () => void queries.invalidateQueries({ queryKey: [environment] }),
  });
}

export function useUpdate(environment: Environment, id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<'UpdateWebhook'>) =>
      dataOf(
        api.PATCH('/api/settings/webhooks/{id}', {
          params: { path: { id }, query: { environment } },
          body,
        }),
      ),
    onSuccess: (endpoint) => {
      queries.setQueryData([environment, 'endpoints', id], endpoint);
      void queries.invalidateQueries({ queryKey: [environment] });
    },
  });
}

export function useDelete(environment: Environment, id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      answerTo(
        api.DELETE('/api/settings/webhooks/{id}', { params: { path: { id }, query: { environment } } }),
      ),
    onSuccess() {
      queries.removeQueries({ queryKey: [environment, 'endpoints', id] });
      return queries.invalidateQueries({ queryKey: [environment, 'endpoints'] });
    },
  });
}

/** Does something once, however often it is asked for until it succeeds. */
function useOnce<Params extends object, Answer>(
  params: Params,
  send: (params: Params & { header: Key }) => Promise<{ data: Answer }>,
) {
  const keys = useIdempotencyKeys();
  return useMutation({
    mutationFn: async () => (await keys.once(params, (header) => send({ ...params, header }))).data,
  });
}

export const useSendTest = (environment: Environment, id: string) =>
  useOnce({ path: { id }, query: { environment } }, (params) =>
    answerTo(api.POST(pathOf(id, '/api/settings/webhooks/{id}/test'), { params })),
  );

type DeliveryRef = Pick<Delivery, 'webhookId' | 'id'>;
const deliveryPath = (environment: Environment, { webhookId, id }: DeliveryRef) => ({
  ...{ path: { id: webhookId, deliveryId: id }, query: { environment } },
});

export const useRedeliver = (environment: Environment, delivery: DeliveryRef) =>
  useOnce(deliveryPath(environment, delivery), (params) =>
    answerTo(
      api.POST(pathOf(delivery.webhookId, '/api/settings/webhooks/{id}/deliveries/{deliveryId}/redeliver'), {
        params,
      }),
    ),
  );

export const useRetryNow = (environment: Environment, delivery: DeliveryRef) =>
  useOnce(deliveryPath(environment, delivery), (params) =>
    answerTo(
      api.POST(pathOf(delivery.webhookId, '/api/settings/webhooks/{id}/deliveries/{deliveryId}/retry'), {
        params,
      }),
    ),
  );

/** What a test can send: itself, or an example of a type that endpoints subscribe to. */
export type SentType = EventType | 'webhook.test';

/** Sends an example to one endpoint, once, however often it is requested until it succeeds. */
export function useSendExample(environment: Environment) {
  const keys = useIdempotencyKeys();
  return useMutation({
    mutationFn: async ({ webhookId, type }: { webhookId: string; type: SentType }) => {
      const params = { path: { id: webhookId }, query: { environment } };
      const send = (header: Key) =>
        answerTo(
          api.POST('/api/settings/webhooks/{id}/test', { params: { ...params, header }, body: { type } }),
        );
      return (await keys.once({ webhookId, type }, send)).data;
    },
  });
}
