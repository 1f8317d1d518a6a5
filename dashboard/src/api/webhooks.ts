import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { answerTo, api, type Environment, type Schema } from './client.ts';

export type Endpoint = Schema<'Webhook'>;
export type Delivery = Schema<'ListedDelivery'>;
export type DeliveryWithAttempts = Schema<'DeliveryWithAttempts'>;
export type DeliveryStatus = Delivery['status'];
export type EventType = Endpoint['events'][number];

/** Events that endpoints can be told of (public-api.md, Subscribable event types). */
export const EVENT_TYPES = [
  'conversation.created',
  'message.received',
  'handoff.requested',
  'ticket.created',
  'conversation.resolved',
] as const satisfies readonly EventType[];

/** Whether nothing more will become of a delivery. */
export const isOver = ({ status }: Pick<Delivery, 'status'>): boolean =>
  status !== 'pending' && status !== 'retrying';

/** More than an organization can have. */
const ALL_ENDPOINTS = 100;
const SECOND = 1000;

export const useEndpoints = (environment: Environment) =>
  useQuery({
    queryKey: [environment, 'endpoints'],
    queryFn: async () =>
      (
        await answerTo(
          api.GET('/api/settings/webhooks', { params: { query: { environment, limit: ALL_ENDPOINTS } } }),
        )
      ).data,
    refetchInterval: 10 * SECOND,
  });

export const useEndpoint = (environment: Environment, id: string) =>
  useQuery({
    queryKey: [environment, 'endpoints', id],
    queryFn: async () =>
      (
        await answerTo(
          api.GET('/api/settings/webhooks/{id}', { params: { path: { id }, query: { environment } } }),
        )
      ).data,
    refetchInterval: 10 * SECOND,
  });

/** What became of the deliveries of all endpoints. @param hours of the clock, the one under way among them */
export const useStats = (environment: Environment, hours: number) =>
  useQuery({
    queryKey: [environment, 'stats', hours],
    queryFn: async () =>
      (
        await answerTo(
          api.GET('/api/settings/deliveries/stats', { params: { query: { environment, hours } } }),
        )
      ).data,
    // Of an organization with many endpoints a day is hundreds of rows, a week seven times as many.
    refetchInterval: (hours > 24 ? 60 : 15) * SECOND,
    placeholderData: keepPreviousData,
  });

/** One delivery with its attempts, followed until it has ended. */
export const useDelivery = (environment: Environment, webhookId: string, id: string) =>
  useQuery({
    queryKey: [environment, 'deliveries', webhookId, id],
    queryFn: async () =>
      (
        await answerTo(
          api.GET('/api/settings/webhooks/{id}/deliveries/{deliveryId}', {
            params: { path: { id: webhookId, deliveryId: id }, query: { environment } },
          }),
        )
      ).data,
    refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : SECOND),
  });

type Keyed = { key: { 'Idempotency-Key': string } };

export function useRegister(environment: Environment) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ key, ...body }: Keyed & { url: string; events: EventType[] }) =>
      (
        await answerTo(
          api.POST('/api/settings/webhooks', { params: { query: { environment }, header: key }, body }),
        )
      ).data,
    onSuccess: () => queries.invalidateQueries({ queryKey: [environment] }),
  });
}

export function useUpdate(environment: Environment, id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (body: { url: string; events: EventType[] }) =>
      (
        await answerTo(
          api.PATCH('/api/settings/webhooks/{id}', {
            params: { path: { id }, query: { environment } },
            body,
          }),
        )
      ).data,
    onSuccess: () => queries.invalidateQueries({ queryKey: [environment] }),
  });
}

export function useDelete(environment: Environment, id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      answerTo(
        api.DELETE('/api/settings/webhooks/{id}', { params: { path: { id }, query: { environment } } }),
      ),
    onSuccess: () => queries.removeQueries({ queryKey: [environment, 'endpoints'] }),
  });
}

/** Sends a `webhook.test` event. */
export const useSendTest = (environment: Environment, id: string) =>
  useMutation({
    mutationFn: async ({ key }: Keyed) =>
      (
        await answerTo(
          api.POST('/api/settings/webhooks/{id}/test', {
            params: { path: { id }, query: { environment }, header: key },
          }),
        )
      ).data,
  });

export const useRedeliver = (
  environment: Environment,
  { webhookId, id }: Pick<Delivery, 'webhookId' | 'id'>,
) =>
  useMutation({
    mutationFn: async ({ key }: Keyed) =>
      (
        await answerTo(
          api.POST('/api/settings/webhooks/{id}/deliveries/{deliveryId}/redeliver', {
            params: { path: { id: webhookId, deliveryId: id }, query: { environment }, header: key },
          }),
        )
      ).data,
  });
