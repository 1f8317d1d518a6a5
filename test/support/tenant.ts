import { until } from 'aws-local/test/until.ts';
import * as z from 'zod';
import { OrgId } from '../../functions/aws/ids.ts';
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

/**
 * Enrols an organization.
 * @param terms its tier and the scopes of its key
 */
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

/** URL of a receiver that answers 200, for a sandbox, where receivers are simulated. */
const SIMULATED_RECEIVER = 'https://receiver.example.com/hooks';
const SANDBOX_SCOPES = ['write:webhooks', 'write:conversations', 'write:knowledge'];
const Provisioned = z.object({
  data: z.object({ sandboxOrganizationId: OrgId, key: z.object({ secretOnce: z.string() }) }),
});

/**
 * The sandbox of an organization, with a new key, created by the first call, as its admin does. `session` and
 * `admin` stay those of the live organization, because a sandbox has no users.
 */
export async function aSandbox(
  service: Pick<Service, 'url'>,
  live: Pick<Tenant, 'session' | 'admin'>,
): Promise<Tenant> {
  const { status, body } = await until('an answer of a service that is not too busy', async () => {
    const answer = await live.admin.post('/api/settings/sandbox/provision', {
      name: 'Tests',
      scopes: SANDBOX_SCOPES,
    });
    return answer.status !== 503 && answer;
  });
  if (status !== 201) throw new Error(`the provisioning answered ${status}: ${JSON.stringify(body)}`);
  const { sandboxOrganizationId, key } = Provisioned.parse(body).data;
  const api = apiClient({ BASE_URL: service.url, API_KEY: key.secretOnce });
  return {
    orgId: sandboxOrganizationId,
    key: key.secretOnce,
    session: live.session,
    api,
    admin: live.admin,
    receiver: SIMULATED_RECEIVER,
    close: api.close,
  };
}
