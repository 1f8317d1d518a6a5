import { digestOf, issueKey } from '../../domain/api-key.ts';
import { newSandbox } from '../../domain/sandbox.ts';
import { success } from '../../platform/reply.ts';
import { apiKeyStore } from '../../store/api-keys.ts';
import { sandboxStore } from '../../store/sandboxes.ts';
import { tables } from '../endpoint.ts';
import { sessionEndpoint } from '../session-endpoint.ts';
import * as routes from './routes.ts';

const apiKeys = apiKeyStore(tables.service);
const sandboxes = sandboxStore(tables.service);

/**
 * The pairing, its organization and the first key commit together, so that of several first calls exactly one makes the sandbox. The others
 * find it made, and issue a key for it (public-api.md, Sandbox pairing). The key is the live organization's: its admins list and revoke it.
 */
export const handler = sessionEndpoint(routes.provisionSandbox, async ({ tenant, body, now, effect }) => {
  const { key, secret } = issueKey({ orgId: tenant.orgId, environment: 'sandbox', ...body }, now);
  const issuing = apiKeys.create(digestOf(secret), key);
  const answer = (sandboxOrganizationId: string, provisioned: boolean) =>
    success(
      { sandboxOrganizationId, provisioned, key: { ...key, secretOnce: secret } },
      { location: `/api/settings/api-keys/${key.id}` },
    );

  async function issueFor(): ReturnType<typeof effect> {
    const { pairing, sandbox } = await sandboxes.find(tenant.orgId);
    if (!pairing || !sandbox) throw new Error('the pairing of an organization does not hold');
    return effect(answer(sandbox.id, false), issuing);
  }

  const { pairing } = await sandboxes.find(tenant.orgId);
  if (pairing) return issueFor();
  const made = newSandbox(tenant.orgId, now);
  const organization = {
    name: 'Sandbox',
    environment: 'sandbox',
    tier: 'sandbox',
    createdAt: now.toISOString(),
  } as const;
  return effect(
    answer(made.sandbox.id, true),
    [...sandboxes.create(made.pairing, made.sandbox, organization), ...issuing],
    { 'sandbox-exists': issueFor },
  );
});
