import * as z from 'zod/mini';
import type { Route } from '../../http/route.ts';
import * as shared from '../fields.ts';
import * as schema from './schemas.ts';

export const provisionSandbox = {
  name: 'provision-sandbox',
  method: 'POST',
  path: '/settings/sandbox/provision',
  summary: 'Provision the sandbox and issue an API key for it',
  role: 'admin',
  audit: 'api_key.created',
  params: shared.NoParams,
  query: shared.NoQuery,
  body: schema.CreateApiKey,
  success: { status: 201, data: schema.ProvisionedSandbox },
} as const satisfies Route;

export const resetSandbox = {
  name: 'reset-sandbox',
  method: 'POST',
  path: '/settings/sandbox/reset',
  summary: 'Reset the sandbox',
  role: 'admin',
  audit: 'sandbox.reset',
  params: shared.NoParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.ResetSandbox },
  refusals: ['SANDBOX_NOT_PROVISIONED'],
} as const satisfies Route;

export const readSandbox = {
  name: 'read-sandbox',
  method: 'GET',
  path: '/settings/sandbox',
  summary: 'Read the sandbox of the organization',
  role: 'member',
  params: shared.NoParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.Sandbox },
  refusals: ['NOT_FOUND'],
} as const satisfies Route;

export const readSession = {
  name: 'read-session',
  method: 'GET',
  path: '/settings/session',
  summary: 'Read the signed-in user',
  role: 'member',
  params: shared.NoParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.SignedIn },
} as const satisfies Route;

export const readOrganization = {
  name: 'read-organization',
  method: 'GET',
  path: '/settings/organization',
  summary: 'Read the organization and its settings',
  role: 'member',
  params: shared.NoParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.Organization },
} as const satisfies Route;

export const updateOrganization = {
  name: 'update-organization',
  method: 'PATCH',
  path: '/settings/organization',
  summary: 'Update the settings of the organization',
  role: 'admin',
  audit: 'organization.updated',
  params: shared.NoParams,
  query: shared.NoQuery,
  body: schema.UpdateOrganization,
  success: { status: 200, data: schema.Organization },
} as const satisfies Route;

export const readUsage = {
  name: 'read-usage',
  method: 'GET',
  path: '/settings/usage',
  summary: 'Read the usage of the organization',
  role: 'member',
  params: shared.NoParams,
  query: schema.UsageQuery,
  success: { status: 200, data: schema.Usage },
} as const satisfies Route;

export const createApiKey = {
  name: 'create-api-key',
  method: 'POST',
  path: '/settings/api-keys',
  summary: 'Create an API key',
  role: 'admin',
  audit: 'api_key.created',
  params: shared.NoParams,
  query: shared.NoQuery,
  body: schema.CreateApiKey,
  success: { status: 201, data: schema.CreatedApiKey },
} as const satisfies Route;

export const listApiKeys = {
  name: 'list-api-keys',
  method: 'GET',
  path: '/settings/api-keys',
  summary: 'List API keys',
  role: 'admin',
  params: shared.NoParams,
  query: shared.PageQuery,
  success: { status: 200, data: z.array(schema.ApiKey) },
} as const satisfies Route;

export const revokeApiKey = {
  name: 'revoke-api-key',
  method: 'DELETE',
  path: '/settings/api-keys/{id}',
  summary: 'Revoke an API key',
  role: 'admin',
  audit: 'api_key.revoked',
  params: schema.ApiKeyParams,
  query: shared.NoQuery,
  success: { status: 204, data: z.undefined() },
} as const satisfies Route;

export const listAuditLog = {
  name: 'list-audit-log',
  method: 'GET',
  path: '/settings/audit-log',
  summary: 'List the audit log',
  role: 'admin',
  params: shared.NoParams,
  query: schema.AuditLogQuery,
  success: { status: 200, data: z.array(schema.AuditEntry) },
  refusals: ['SANDBOX_NOT_PROVISIONED'],
} as const satisfies Route;
