import * as z from 'zod/mini';
import { SourceId, Timestamp } from '../../aws/ids.ts';
import { SourceKind } from '../../events/bus.ts';
import { SourceStatus } from '../../knowledge/sources.ts';
import { orNull, receiverUrl, text } from '../fields.ts';

export const CreateSource = z.strictObject({
  kind: SourceKind,
  url: receiverUrl,
  name: z.optional(text(200)),
});

/** Fields that the audit log shows. */
export const SOURCE_SETTINGS = Object.keys(CreateSource.shape);

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

export const SourceParams = z.object({ id: SourceId });
