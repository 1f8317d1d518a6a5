import middy from '@middy/core';
import * as z from 'zod/mini';
import { openTables } from '../aws/clients.ts';
import { NonEmptyText, readEnvironment } from '../aws/config.ts';
import { newId } from '../aws/ids.ts';
import { invocation, logger } from '../aws/logger.ts';
import { committer } from '../aws/transaction.ts';
import { apiKeyStore, hashApiKey, issueKey, Scope } from '../tenancy/api-keys.ts';
import { compareFields, createAuditEntry, recordAuditEntry } from '../tenancy/audit.ts';
import { organizationStore } from '../tenancy/organizations.ts';

export const EnrolEnvironment = z.object({ SERVICE_TABLE: NonEmptyText });

const environment = readEnvironment(EnrolEnvironment);
const { service } = openTables(environment);
const organizations = organizationStore(service);
const apiKeys = apiKeyStore(service);
const commit = committer(service.client);

const Enrolment = z.object({
  name: z.string().check(z.minLength(1), z.maxLength(200)),
  tier: z._default(z.enum(['standard', 'scale']), 'standard'),
  scopes: z._default(z.array(Scope).check(z.minLength(1)), [...Scope.options]),
});

/**
 * Creates a live organization with its first API key; operators invoke it. The key is in the response only.
 * @throws a zod error when the payload is invalid
 */
export const handler = middy<unknown, unknown>()
  .use(invocation())
  .handler(async (payload: unknown) => {
    const { name, tier, scopes } = Enrolment.parse(payload);
    const now = new Date();
    const organization = {
      id: newId('org', now),
      name,
      environment: 'live',
      tier,
      createdAt: now.toISOString(),
    } as const;
    const { key, secret } = issueKey(
      { orgId: organization.id, environment: 'live', name: 'First key', scopes },
      now,
    );
    const created = [
      {
        action: 'organization.created',
        targetId: organization.id,
        of: organization,
        fields: ['name', 'tier'],
      },
      { action: 'api_key.created', targetId: key.id, of: key, fields: ['name', 'environment', 'scopes'] },
    ] as const;
    await commit([
      organizations.add(organization),
      ...apiKeys.create(hashApiKey(secret), key),
      ...created.map(({ action, targetId, of, fields }) => {
        const changes = compareFields(fields, undefined, of);
        const change = { orgId: organization.id, action, targetId, changes };
        return recordAuditEntry(service, createAuditEntry(change, { type: 'operator' }, now));
      }),
    ]);
    logger.log('ORGANIZATION_ENROLLED', { orgId: organization.id, keyId: key.id });
    const { orgId: _, ...shown } = key;
    return { organizationId: organization.id, key: { ...shown, secretOnce: secret } };
  });
