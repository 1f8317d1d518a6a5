import * as z from 'zod/mini';
import { SourceId, Timestamp } from '../../aws/ids.ts';
import { AttemptErrorCode } from '../../delivery/delivery.ts';
import { SourceKind } from '../../events/bus.ts';
import type { Route } from '../../http/route.ts';
import { SourceStatus, Warning } from '../../knowledge/sources.ts';
import { listFields, orNull, PageQuery, receiverUrl, text } from '../fields.ts';

export const CreateSource = z.strictObject({
  kind: SourceKind,
  url: receiverUrl,
  name: z.optional(text(200)),
});

/** Fields that the audit log shows. */
export const SOURCE_SETTINGS = /* @__PURE__ */ listFields(CreateSource);

/** What the text lacks, or may have wrong. */
export const SourceWarning = z.object(Warning.shape);

const warnings = z.array(SourceWarning);

export const Source = z.object({
  id: SourceId,
  kind: SourceKind,
  url: z.string(),
  name: orNull(z.string()),
  status: SourceStatus,
  title: orNull(z.string()),
  words: orNull(z.int()),
  version: orNull(z.int()),
  difference: orNull(z.number()),
  createdAt: Timestamp,
  lastCheckedAt: orNull(Timestamp),
  lastChangedAt: orNull(Timestamp),
  lastNotifiedAt: orNull(Timestamp),
  nextCheckAt: Timestamp,
  lastError: orNull(z.string()),
  lastErrorCode: orNull(AttemptErrorCode),
  warnings,
});

/** The current text. */
export const SourceContent = z.object({
  sourceId: SourceId,
  version: z.int(),
  words: z.int(),
  title: orNull(z.string()),
  text: z.string(),
  warnings,
});

export const SourceVersion = z.object({ version: z.int(), words: z.int() });

const compared = {
  from: orNull(SourceVersion),
  to: orNull(SourceVersion),
  difference: orNull(z.number()),
  added: z.string(),
  removed: z.string(),
};

/** What the last e-mail to admins was about. */
export const AnnouncedChanges = z.object({ ...compared, announcedAt: Timestamp });

/** From the version that admins were notified of to the current one. */
export const SourceChanges = z.object({
  sourceId: SourceId,
  ...compared,
  announced: orNull(AnnouncedChanges),
});

const SourceParams = z.object({ id: SourceId });

export const createSource = {
  name: 'create-source',
  method: 'POST',
  path: '/v1/knowledge/sources',
  scope: 'write:knowledge',
  dashboard: 'admin',
  idempotency: 'honoured',
  audit: 'source.created',
  body: CreateSource,
  success: { status: 201, data: Source },
  refusals: ['LIMIT_EXCEEDED'],
} as const satisfies Route;

export const listSources = {
  name: 'list-sources',
  method: 'GET',
  path: '/v1/knowledge/sources',
  scope: 'read:knowledge',
  dashboard: 'member',
  query: PageQuery,
  success: { status: 200, data: z.array(Source) },
} as const satisfies Route;

export const readSource = {
  name: 'read-source',
  method: 'GET',
  path: '/v1/knowledge/sources/{id}',
  scope: 'read:knowledge',
  dashboard: 'member',
  params: SourceParams,
  success: { status: 200, data: Source },
} as const satisfies Route;

export const deleteSource = {
  name: 'delete-source',
  method: 'DELETE',
  path: '/v1/knowledge/sources/{id}',
  scope: 'write:knowledge',
  dashboard: 'admin',
  audit: 'source.deleted',
  params: SourceParams,
  success: { status: 204, data: z.undefined() },
} as const satisfies Route;

export const syncSource = {
  name: 'sync-source',
  method: 'POST',
  path: '/v1/knowledge/sources/{id}/sync',
  scope: 'write:knowledge',
  dashboard: 'admin',
  idempotency: 'honoured',
  audit: 'none',
  params: SourceParams,
  success: { status: 202, data: Source },
  refusals: ['RATE_LIMITED'],
} as const satisfies Route;

export const readSourceContent = {
  name: 'read-source-content',
  method: 'GET',
  path: '/v1/knowledge/sources/{id}/content',
  scope: 'read:knowledge',
  dashboard: 'member',
  params: SourceParams,
  success: { status: 200, data: SourceContent },
} as const satisfies Route;

export const readSourceChanges = {
  name: 'read-source-changes',
  method: 'GET',
  path: '/v1/knowledge/sources/{id}/changes',
  scope: 'read:knowledge',
  dashboard: 'member',
  params: SourceParams,
  success: { status: 200, data: SourceChanges },
} as const satisfies Route;
