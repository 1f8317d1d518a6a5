import type * as z from 'zod/mini';
import type { Page } from '../../aws/pages.ts';
import type { RecordOmission } from './routes.ts';

/** What a list adds to its events on request. */
export interface Included {
  deliveries?: object[];
  record?: object;
  /** Why there is no record. */
  recordOmitted?: z.infer<typeof RecordOmission>;
}

/** A page that ends with the last of its items so far: the next one continues there. */
export function cutPage<T extends { id: string }>(
  { items: all, ...position }: Page<unknown>,
  items: T[],
): Page<T> {
  const last = items.at(-1);
  if (items.length === all.length || last === undefined) return { items, ...position };
  return { items, next: last.id, ...(position.follow !== undefined && { follow: last.id }) };
}
