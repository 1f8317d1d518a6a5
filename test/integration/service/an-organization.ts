import { until } from 'aws-local/test/until.ts';
import { beforeAll } from 'vitest';
import { type Answer, type ReceivedDelivery, startReceiver } from '../../../lib/cli/receiver/receiver.ts';
import { type ApiClient, apiClient } from '../../support/api.ts';
import type { Tenant } from '../../support/tenant.ts';
import type { Place } from './place.ts';

export const ok = () => ({ status: 200 });
export const path = (id: string) => `/api/v1/webhooks/${id}`;

/** An organization with its sandbox and people, and receivers with endpoints of it, for the tests of a suite. */
export function anOrganization(place: Place) {
  let made: { live: Tenant; sandbox: Tenant; member: string } | undefined;
  const current = () => {
    if (made === undefined) throw new Error('the organization is there only while the tests are');
    return made;
  };

  beforeAll(async () => {
    const { live, sandbox } = await place.pair();
    made = { live, sandbox, member: await place.service().session(live.orgId, 'member') };
  }, 60_000);

  const deliveries = (id: string) => current().live.api.all(`${path(id)}/deliveries`);
  return {
    place,
    get id() {
      return current().live.orgId;
    },
    get key() {
      return current().live.key;
    },
    get sandboxKey() {
      return current().sandbox.key;
    },
    /** Sessions' tokens of its people. */
    get sessions() {
      return { admin: current().live.session, member: current().member };
    },
    get api() {
      return current().live.api;
    },
    /** A client of the API that presents another credential, or none. */
    client: (credential: string): ApiClient =>
      place.keep(apiClient({ BASE_URL: place.service().url, API_KEY: credential })),
    deliveries,

    /** A receiver with an endpoint at it, by default of events that no test causes: the test operation reaches it all the same. */
    async subscribe(
      respond: (delivery: ReceivedDelivery) => Answer | Promise<Answer>,
      events = ['ticket.created'],
    ) {
      const received: ReceivedDelivery[] = [];
      const { url } = place.keep(
        await startReceiver({
          ...place.service().tls,
          respond,
          onDelivery: (delivery) => received.push(delivery),
        }),
      );
      const { id, secret } = await current().live.api.register(`${url}/hooks`, events);
      return { id, secret, received };
    },

    /** Waits until so many of an endpoint's deliveries are there and all have ended, and gives them, newest first. */
    ended: (id: string, count: number) =>
      until(`${count} deliveries of ${id} to end`, async () => {
        const all = await deliveries(id);
        return all.length >= count && all.every(({ terminalAt }) => terminalAt !== null) && all;
      }),
  };
}
export type Organization = ReturnType<typeof anOrganization>;
