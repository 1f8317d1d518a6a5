import {
  type CursorBinding,
  type Keyring,
  keyringSource,
  openCursor,
  requireKnownVersion,
  sealCursor,
  secretValue,
  UnknownKeyVersion,
} from '../aws/keyrings.ts';
import type { Page, PageRequest } from '../aws/pages.ts';
import { invalid, isProblem, type Problem } from '../http/problem.ts';
import { fitIntoPage, type Reply, success } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { buildTenantKey } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { environment } from './route-handler.ts';

/** Keys that seal cursors and visitor tokens. */
export const cursorKeys = keyringSource(secretValue(environment.CURSOR_KEYS));

/**
 * Opens a sealed text. Another instance may have sealed it with a newer key version.
 * @param text the sealed text
 * @param open returns undefined for an invalid text
 */
export async function unsealWithKeys<T>(
  text: string,
  open: (ring: Keyring) => T | undefined,
): Promise<T | undefined> {
  try {
    return await cursorKeys((ring) => {
      requireKnownVersion(ring, text);
      return open(ring);
    });
  } catch (error) {
    if (error instanceof UnknownKeyVersion) return undefined;
    throw error;
  }
}

/**
 * Reads a page of a listing, cut if it is too large for a response. Cursors are sealed, and bound to tenant,
 * route, path and filters.
 * @param filters of the query, in a fixed order
 */
export async function paginate<Answer extends Page<{ id: string }> | Problem>(
  route: Route,
  request: {
    tenant: Tenant;
    params: Record<string, string>;
    query: { limit: number; cursor?: string | undefined };
  },
  read: (page: PageRequest) => Promise<Answer>,
  filters: readonly string[] = [],
): Promise<Reply<Extract<Answer, Problem> | Problem<'VALIDATION_ERROR', 'cursor'>>> {
  const { tenant, params, query } = request;
  const binding: CursorBinding = {
    tenant: buildTenantKey(tenant),
    route: route.name,
    filters: [...Object.values(params), ...filters],
  };
  const { cursor } = query;
  const after =
    cursor === undefined
      ? undefined
      : await unsealWithKeys(cursor, (ring) => openCursor(ring, cursor, binding));
  if (cursor !== undefined && after === undefined)
    return invalid({ field: 'cursor', code: 'invalid_format', message: 'is not valid for this list' });
  const page = await read({ limit: query.limit, after });
  if (isProblem(page)) return page as Extract<Answer, Problem>;
  const items = fitIntoPage(page.items, (item) => route.success.data.parse([item]));
  const isCut = items.length < page.items.length;
  // Only the reader knows where a page that can be followed continues.
  if (isCut && page.follow !== undefined)
    return paginate(route, { ...request, query: { ...query, limit: items.length } }, read, filters);
  const toCursor = async (position: string | undefined) =>
    position === undefined ? null : cursorKeys((ring) => sealCursor(ring, position, binding));
  const nextCursor = await toCursor(isCut ? items.at(-1)?.id : page.next);
  if (route.success.followed !== true) return success(items, { nextCursor });
  return success(items, { nextCursor, followCursor: await toCursor(page.follow) });
}
