import * as z from 'zod/mini';
import type { Route } from '../../http/route.ts';
import * as shared from '../fields.ts';
import * as schema from './schemas.ts';

export const createSource = {
  name: 'create-source',
  method: 'POST',
  path: '/v1/knowledge/sources',
  summary: 'Create a content source',
  scope: 'write:knowledge',
  dashboard: 'admin',
  idempotency: 'honoured',
  audit: 'source.created',
  params: shared.NoParams,
  query: shared.NoQuery,
  body: schema.CreateSource,
  success: { status: 201, data: schema.Source },
  refusals: ['LIMIT_EXCEEDED'],
} as const satisfies Route;

export const listSources = {
  name: 'list-sources',
  method: 'GET',
  path: '/v1/knowledge/sources',
  summary: 'List content sources',
  scope: 'read:knowledge',
  dashboard: 'member',
  params: shared.NoParams,
  query: shared.PageQuery,
  success: { status: 200, data: z.array(schema.Source) },
} as const satisfies Route;

export const readSource = {
  name: 'read-source',
  method: 'GET',
  path: '/v1/knowledge/sources/{id}',
  summary: 'Read a content source',
  scope: 'read:knowledge',
  dashboard: 'member',
  params: schema.SourceParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.Source },
} as const satisfies Route;

export const deleteSource = {
  name: 'delete-source',
  method: 'DELETE',
  path: '/v1/knowledge/sources/{id}',
  summary: 'Delete a content source',
  scope: 'write:knowledge',
  dashboard: 'admin',
  audit: 'source.deleted',
  params: schema.SourceParams,
  query: shared.NoQuery,
  success: { status: 204, data: z.undefined() },
} as const satisfies Route;

export const syncSource = {
  name: 'sync-source',
  method: 'POST',
  path: '/v1/knowledge/sources/{id}/sync',
  summary: 'Check a content source now',
  scope: 'write:knowledge',
  dashboard: 'admin',
  idempotency: 'honoured',
  audit: 'none',
  params: schema.SourceParams,
  query: shared.NoQuery,
  success: { status: 202, data: schema.Source },
  refusals: ['RATE_LIMITED'],
} as const satisfies Route;

export const readSourceChanges = {
  name: 'read-source-changes',
  method: 'GET',
  path: '/v1/knowledge/sources/{id}/changes',
  summary: 'Read the changes of a content source',
  scope: 'read:knowledge',
  dashboard: 'member',
  params: schema.SourceParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.SourceChanges },
} as const satisfies Route;
