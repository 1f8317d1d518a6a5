import { type ApiClient, apiClient } from './api.ts';
import type { Maker } from './resources.ts';
import type { Service, Tenancy } from './service.ts';

/** An organization with all that calls in its name need. */
export interface Tenant extends Maker, Tenancy {
  /** Session of an admin. */
  session: string;
  /** Ends its connections. */
  close(): void;
}

/** Enrols an organization. @param terms its tier and what its key may do */
export async function aTenant(service: Service, terms?: Parameters<Service['enrol']>[0]): Promise<Tenant> {
  const { orgId, key } = await service.enrol(terms);
  const session = await service.session(orgId, 'admin');
  const client = (API_KEY: string): ApiClient => apiClient({ BASE_URL: service.url, API_KEY });
  const api = client(key);
  const admin = client(session);
  return {
    orgId,
    key,
    session,
    api,
    admin,
    receiver: service.receiver,
    close() {
      api.close();
      admin.close();
    },
  };
}
