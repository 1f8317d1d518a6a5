import { Defect } from '../../aws/logger.ts';
import { success } from '../../http/reply.ts';
import { hashApiKey, issueKey } from '../../tenancy/api-keys.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { createSandbox, type Sandbox } from '../../tenancy/organizations.ts';
import { apiKeys, sandboxes } from '../stores.ts';
import * as routes from './routes.ts';
import { findSandbox, sessionRouteHandler } from './session.ts';

/**
 * Creates pairing, sandbox and first key in one transaction, so one of several concurrent calls creates the
 * sandbox and the others issue a key for it (docs/specification.md, Sandbox pairing). Keys belong to the live
 * organization, whose admins list and revoke them.
 */
export const handler = sessionRouteHandler(routes.provisionSandbox, async ({ tenant, body, now, effect }) => {
  const { key, secret } = issueKey({ orgId: tenant.orgId, environment: 'sandbox', ...body }, now);
  const keyCreation = { id: key.id, changes: compareFields(routes.API_KEY_SETTINGS, undefined, key) };
  const keyChanges = apiKeys.create(hashApiKey(secret), key);
  const buildReply = (sandboxOrganizationId: string, provisioned: boolean) =>
    success(
      { sandboxOrganizationId, provisioned, key: { ...key, secretOnce: secret } },
      { location: `/api/settings/api-keys/${key.id}` },
    );
  const issueFor = ({ id }: Pick<Sandbox, 'id'>) => effect(buildReply(id, false), keyChanges, keyCreation);

  const pair = await findSandbox(tenant.orgId);
  if (pair) return issueFor(pair.sandbox);
  const made = createSandbox(tenant.orgId, now);
  const organization = {
    name: 'Sandbox',
    environment: 'sandbox',
    tier: 'sandbox',
    createdAt: now.toISOString(),
  } as const;
  return effect(
    buildReply(made.sandbox.id, true),
    [...sandboxes.create(made.pairing, made.sandbox, organization), ...keyChanges],
    [{ id: made.sandbox.id, action: 'sandbox.provisioned', changes: [] }, keyCreation],
    {
      'sandbox-exists': async () => {
        const other = await findSandbox(tenant.orgId);
        if (!other) throw new Defect('there is a pairing, and it cannot be read');
        return issueFor(other.sandbox);
      },
    },
  );
});
