import { PATIENCE } from 'aws-local/test/patience.ts';
import { beforeAll } from 'vitest';
import { type ApiClient, apiClient } from '../../support/api.ts';
import type { Tenant } from '../../support/tenant.ts';
import type { Place } from './place.ts';
import { receiversOf } from './receivers.ts';

/** An organization with its sandbox, users and receivers, for the tests of a suite. */
export function anOrganization(place: Place) {
  let made: { live: Tenant; sandbox: Tenant; member: string } | undefined;
  const current = () => {
    if (made === undefined) throw new Error('the organization is there only while the tests are');
    return made;
  };

  beforeAll(async () => {
    const { live, sandbox } = await place.pair();
    made = { live, sandbox, member: await place.service().session(live.orgId, 'member') };
  }, 60_000 * PATIENCE);

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
    /** Session tokens of its users. */
    get sessions() {
      return { admin: current().live.session, member: current().member };
    },
    get api() {
      return current().live.api;
    },
    /** A client of the API with another credential, or none. */
    client: (credential: string): ApiClient =>
      place.keep(apiClient({ BASE_URL: place.service().url, API_KEY: credential })),
    /** Another organization, for a test that causes events to which tests here subscribe. */
    async another() {
      const { api } = await place.tenant();
      const receivers = receiversOf({
        api: () => api,
        tls: () => place.service().tls,
        keep: (receiver) => void place.keep(receiver),
      });
      return { api, ...receivers };
    },
    ...receiversOf({
      api: () => current().live.api,
      tls: () => place.service().tls,
      keep: (receiver) => void place.keep(receiver),
    }),
  };
}
