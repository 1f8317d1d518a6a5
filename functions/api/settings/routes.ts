import * as z from 'zod/mini';
import { AuditEntryId, KeyId, OrgId, Timestamp } from '../../aws/ids.ts';
import { UsageCounts } from '../../events/usage.ts';
import type { Route } from '../../http/route.ts';
import { Scope } from '../../tenancy/api-keys.ts';
import { AuditAction, AuditActorType, AuditTargetType, AuditValue } from '../../tenancy/audit.ts';
import {
  Environment,
  OrganizationSettings,
  Percentage,
  RetentionDays,
  Role,
  Tier,
} from '../../tenancy/tenant.ts';
import { clamped, distinct, listed, moment, orNull, PageQuery, text } from '../fields.ts';

export const Organization = z.object({
  id: OrgId,
  name: z.string(),
  environment: Environment,
  tier: Tier,
  contentChangeThreshold: Percentage,
  contentChangeNotifications: z.boolean(),
  retentionDays: RetentionDays,
  /** Whether the deployment sends e-mail. */
  mailer: z.boolean(),
  createdAt: Timestamp,
});
export const UpdateOrganization = z.partial(z.strictObject(OrganizationSettings.shape));

/** The signed-in user and the expiry of the session. */
export const SignedIn = z.object({
  userId: z.string(),
  email: z.nullable(z.string()),
  organizationId: OrgId,
  organizationName: z.string(),
  role: Role,
  expiresAt: Timestamp,
});

export const UsageOfMonth = z.object({ month: z.string(), ...UsageCounts.shape });
export const Usage = z.object({ organizationId: OrgId, months: z.array(UsageOfMonth) });

export const CreateApiKey = z.strictObject({
  name: text(200),
  scopes: distinct(Scope, ['a scope', 'scopes']),
});
/** Fields that the audit log shows. */
export const API_KEY_SETTINGS = ['name', 'environment', 'scopes'];
export const ApiKey = z.object({
  id: KeyId,
  environment: Environment,
  name: z.string(),
  scopes: z.array(Scope),
  createdAt: Timestamp,
  lastUsedAt: orNull(Timestamp),
  revokedAt: orNull(Timestamp),
});
/** The only response with the key. */
export const CreatedApiKey = z.extend(ApiKey, { secretOnce: z.string() });

export const ProvisionedSandbox = z.object({
  sandboxOrganizationId: OrgId,
  provisioned: z.boolean(),
  key: CreatedApiKey,
});
export const ResetSandbox = z.object({ sandboxOrganizationId: OrgId, resetAt: Timestamp });
/** Data of earlier generations that is not deleted yet. */
export const Purge = z.object({ since: Timestamp, deleted: z.int() });
export const Sandbox = z.object({
  sandboxOrganizationId: OrgId,
  createdAt: Timestamp,
  lastResetAt: orNull(Timestamp),
  purge: orNull(Purge),
});

export const AuditChange = z.object({ field: z.string(), before: AuditValue, after: AuditValue });
/** Ids of users come from the issuer. */
export const AuditActor = z.object({
  type: AuditActorType,
  id: orNull(z.string()),
  email: orNull(z.string()),
});
export const AuditTarget = z.object({ type: AuditTargetType, id: z.string() });
export const AuditEntry = z.object({
  id: AuditEntryId,
  action: AuditAction,
  actor: AuditActor,
  target: AuditTarget,
  changes: z.array(AuditChange),
  requestId: orNull(z.string()),
  createdAt: Timestamp,
});

export const AuditLogQuery = z.extend(PageQuery, {
  environment: z.optional(Environment),
  action: z.optional(listed(AuditAction)),
  actorType: z.optional(listed(AuditActorType)),
  actorId: z.optional(text(255)),
  from: z.optional(moment),
  to: z.optional(moment),
});

export const provisionSandbox = {
  name: 'provision-sandbox',
  method: 'POST',
  path: '/settings/sandbox/provision',
  role: 'admin',
  audit: 'api_key.created',
  body: CreateApiKey,
  success: { status: 201, data: ProvisionedSandbox },
} as const satisfies Route;

export const resetSandbox = {
  name: 'reset-sandbox',
  method: 'POST',
  path: '/settings/sandbox/reset',
  role: 'admin',
  audit: 'sandbox.reset',
  success: { status: 200, data: ResetSandbox },
  refusals: ['SANDBOX_NOT_PROVISIONED'],
} as const satisfies Route;

export const readSandbox = {
  name: 'read-sandbox',
  method: 'GET',
  path: '/settings/sandbox',
  role: 'member',
  success: { status: 200, data: Sandbox },
  refusals: ['NOT_FOUND'],
} as const satisfies Route;

export const readSession = {
  name: 'read-session',
  method: 'GET',
  path: '/settings/session',
  role: 'member',
  success: { status: 200, data: SignedIn },
} as const satisfies Route;

export const readOrganization = {
  name: 'read-organization',
  method: 'GET',
  path: '/settings/organization',
  role: 'member',
  success: { status: 200, data: Organization },
} as const satisfies Route;

export const updateOrganization = {
  name: 'update-organization',
  method: 'PATCH',
  path: '/settings/organization',
  role: 'admin',
  audit: 'organization.updated',
  body: UpdateOrganization,
  success: { status: 200, data: Organization },
} as const satisfies Route;

export const readUsage = {
  name: 'read-usage',
  method: 'GET',
  path: '/settings/usage',
  role: 'member',
  query: z.object({ months: clamped({ least: 1, most: 24, standard: 12 }) }),
  success: { status: 200, data: Usage },
} as const satisfies Route;

export const createApiKey = {
  name: 'create-api-key',
  method: 'POST',
  path: '/settings/api-keys',
  role: 'admin',
  audit: 'api_key.created',
  body: CreateApiKey,
  success: { status: 201, data: CreatedApiKey },
} as const satisfies Route;

export const listApiKeys = {
  name: 'list-api-keys',
  method: 'GET',
  path: '/settings/api-keys',
  role: 'admin',
  query: PageQuery,
  success: { status: 200, data: z.array(ApiKey) },
} as const satisfies Route;

export const revokeApiKey = {
  name: 'revoke-api-key',
  method: 'DELETE',
  path: '/settings/api-keys/{id}',
  role: 'admin',
  audit: 'api_key.revoked',
  params: z.object({ id: KeyId }),
  success: { status: 204, data: z.undefined() },
} as const satisfies Route;

export const listAuditLog = {
  name: 'list-audit-log',
  method: 'GET',
  path: '/settings/audit-log',
  role: 'admin',
  query: AuditLogQuery,
  success: { status: 200, data: z.array(AuditEntry) },
  refusals: ['SANDBOX_NOT_PROVISIONED'],
} as const satisfies Route;
