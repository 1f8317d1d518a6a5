import { type CursorBinding, openCursor, sealCursor } from '../domain/cursor.ts';
import { type Problem, problem } from '../domain/problem.ts';
import type { Tenant } from '../domain/tenant.ts';
import { fitting, success } from '../platform/reply.ts';
import type { Route } from '../platform/route.ts';
import { tenantKey } from '../store/keys.ts';
import type { Page, PageRequest } from '../store/pages.ts';
import { cursorKeys, opening } from './cursor-keys.ts';

/**
 * Lists: opens the cursor, reads a page, seals the next cursor. Both are bound to tenant, route, path and filters.
 * @param filters what the query narrows the listing to, in a fixed order
 */
export async function paginated<T extends { id: string }>(
  route: Route,
  request: {
    tenant: Tenant;
    params: Record<string, string>;
    query: { limit: number; cursor?: string | undefined };
  },
  read: (page: PageRequest) => Promise<Page<T> | Problem>,
  filters: readonly string[] = [],
) {
  const { tenant, params, query } = request;
  const binding: CursorBinding = {
    tenant: tenantKey(tenant),
    route: route.name,
    filters: [...Object.values(params), ...filters],
  };
  const { cursor } = query;
  const after =
    cursor === undefined ? undefined : await opening(cursor, (ring) => openCursor(ring, cursor, binding));
  if (cursor !== undefined && after === undefined)
    return problem('VALIDATION_ERROR', 'cursor is not one that this listing gave.');
  const page = await read({ limit: query.limit, after });
  if ('kind' in page) return page;
  const items = fitting(page.items, (item) => route.success.data.parse([item]));
  const next = items.length < page.items.length ? items.at(-1)?.id : page.next;
  const nextCursor = next === undefined ? null : await cursorKeys((ring) => sealCursor(ring, next, binding));
  return success(items, { nextCursor });
}
