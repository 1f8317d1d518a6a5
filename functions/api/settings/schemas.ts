import * as z from 'zod/mini';
import { AuditEntryId, KeyId, OrgId, Timestamp } from '../../aws/ids.ts';
import { UsageCounts } from '../../events/usage.ts';
import { Scope } from '../../tenancy/api-key.ts';
import { AuditAction, AuditActorType, AuditTargetType, AuditValue } from '../../tenancy/audit.ts';
import { Environment, OrganizationSettings, Percentage, Role, Tier } from '../../tenancy/tenant.ts';
import { clamped, distinct, listed, moment, orNull, PageQuery, text } from '../fields.ts';

export const Organization = z.object({
  id: OrgId,
  name: z.string(),
  environment: Environment,
  tier: Tier,
  contentChangeThreshold: Percentage,
  contentChangeNotifications: z.boolean(),
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

export const UsageQuery = z.object({ months: clamped({ least: 1, most: 24, standard: 12 }) });

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

export const ApiKeyParams = z.object({ id: KeyId });

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
