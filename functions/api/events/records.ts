import type * as z from 'zod/mini';
import type { Page } from '../../aws/pages.ts';
import { locateRecord, readRecords } from '../../conversations/records.ts';
import { isExample, type OutboxEvent, parseEventBody } from '../../events/events.ts';
import type { Scope } from '../../tenancy/api-keys.ts';
import type { Tenant } from '../../tenancy/tenant.ts';
import { cutPage } from '../pages.ts';
import { tables } from '../route-handler.ts';
import type { RecordOmission } from './routes.ts';

/** Records that are read at once, and the size after which a page ends: a message has up to 256 KiB. */
const RECORDS = 10;
const MAX_BYTES = 1_000_000;

/** What a list adds to an event: its record, or the reason why it has none. */
export interface Included {
  deliveries?: object[];
  record?: object;
  recordOmitted?: z.infer<typeof RecordOmission>;
}

/** Adds to each event its record as it is now. The page ends early where records are large. */
export async function withRecords<E extends OutboxEvent>(
  tenant: Tenant,
  page: Page<E>,
  allows: (scope: Scope) => boolean,
): Promise<Page<E & Included>> {
  const items: (E & Included)[] = [];
  for (let bytes = 0; items.length < page.items.length && bytes < MAX_BYTES; ) {
    const part = page.items.slice(items.length, items.length + RECORDS);
    const records = await readPart(tenant, part, allows);
    items.push(...part.map((event, index) => ({ ...event, ...records[index] })));
    bytes += JSON.stringify(records).length;
  }
  return cutPage(page, items);
}

async function readPart(
  tenant: Tenant,
  part: readonly OutboxEvent[],
  allows: (scope: Scope) => boolean,
): Promise<Included[]> {
  const places = part.map((event) =>
    isExample(event) ? undefined : locateRecord(tenant, parseEventBody(event.body).data),
  );
  const mayRead = allows('read:conversations');
  const wanted = part.flatMap((event, index) => {
    const place = places[index];
    if (place === undefined || !mayRead) return [];
    // Its cause does not add the record but changes it.
    const isChange = event.type === 'conversation.resolved';
    return {
      ...place,
      shows: (record: object) => !isChange || Object(record).resolvedAt === event.createdAt,
    };
  });
  const records = wanted.length === 0 ? [] : await readRecords(tables.service, wanted);
  return places.map((place) => {
    if (place === undefined) return { recordOmitted: 'no_record' };
    if (!mayRead) return { recordOmitted: 'missing_scope' };
    const record = records.shift();
    return record === undefined ? { recordOmitted: 'deleted' } : { record };
  });
}
