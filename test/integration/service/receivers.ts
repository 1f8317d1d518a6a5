import { until } from 'aws-local/test/until.ts';
import {
  type Answer,
  type ReceivedDelivery,
  startReceiver,
} from '../../../packages/cli/src/receiver/receiver.ts';
import type { ApiClient } from '../../support/api.ts';

export const ok = () => ({ status: 200 });
export const path = (id: string) => `/api/v1/webhooks/${id}`;

interface Organization {
  api(): ApiClient;
  /** PEM of the receivers' certificate and key. */
  tls(): { cert: string; key: string };
  /** Stops a receiver after the tests. */
  keep(receiver: { stop(): Promise<void> }): void;
}

/** Receivers with endpoints of an organization, and reads of their deliveries. */
export function receiversOf({ api, tls, keep }: Organization) {
  const deliveries = (id: string) => api().all(`${path(id)}/deliveries`);
  return {
    deliveries,

    /**
     * A receiver with an endpoint. Tests run concurrently in one organization, so most subscribe to an event
     * type that none causes and use the test operation.
     */
    async subscribe(
      respond: (delivery: ReceivedDelivery) => Answer | Promise<Answer>,
      events = ['ticket.created'],
    ) {
      const received: ReceivedDelivery[] = [];
      const receiver = await startReceiver({
        ...tls(),
        respond,
        onDelivery: (delivery) => received.push(delivery),
      });
      keep(receiver);
      const { id, secret } = await api().register(`${receiver.url}/hooks`, events);
      return { id, secret, received };
    },

    /**
     * Waits until an endpoint has at least `count` deliveries and all have ended.
     * @returns them, newest first
     */
    ended: (id: string, count: number) =>
      until(`${count} deliveries of ${id} to end`, async () => {
        const all = await deliveries(id);
        return all.length >= count && all.every(({ terminalAt }) => terminalAt !== null) && all;
      }),
  };
}
