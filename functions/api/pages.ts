import type * as z from 'zod/mini';
import {
  type CursorBinding,
  type Keyring,
  openCursor,
  requireKnownVersion,
  sealCursor,
  UnknownKeyVersion,
} from '../aws/keyrings.ts';
import type { Page, PageRequest } from '../aws/pages.ts';
import type { ApiRequest } from '../http/api.ts';
import { invalid, isProblem, type Problem } from '../http/problem.ts';
import { type Reply, success } from '../http/reply.ts';
import type { RefusalOf, Route } from '../http/route.ts';
import { buildTenantKey } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { routeHandler } from './route-handler.ts';
import { cursorKeys } from './stores.ts';

/**
 * Opens a sealed text. Another instance may have sealed it with a newer key version.
 * @param open returns undefined for an invalid text
 */
export async function unsealWithKeys<T>(text: string, open: (ring: Keyring) => T | undefined) {
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

type Query = { limit: number; cursor?: string | undefined };

/**
 * Reads a page of a listing, cut if it is too large for a response. Cursors are sealed, and bound to tenant,
 * route, path and filters.
 * @param filters of the query, in a fixed order
 */
export async function paginate<Answer extends Page<{ id: string }> | Problem>(
  route: Route,
  request: { tenant: Tenant; params: unknown; query: Query },
  read: (page: PageRequest) => Promise<Answer>,
  filters: readonly string[] = [],
): Promise<Reply<Extract<Answer, Problem> | Problem<'VALIDATION_ERROR', 'cursor'>>> {
  const { tenant, params, query } = request;
  const binding: CursorBinding = {
    tenant: buildTenantKey(tenant),
    route: route.name,
    filters: [...Object.values<string>(Object(params)), ...filters],
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

/**
 * Creates the handler of a route that lists.
 * @param describeFilters filters of the query that a cursor is bound to, in a fixed order
 */
export const listHandler = <R extends Route & { readonly query: z.ZodMiniType<Query> }>(
  route: R,
  read: (request: ApiRequest<R>, page: PageRequest) => Promise<Page<{ id: string }> | RefusalOf<R>>,
  describeFilters: (query: ApiRequest<R>['query']) => readonly string[] = () => [],
) =>
  routeHandler(route, (request) => {
    const answer = paginate(route, request, (page) => read(request, page), describeFilters(request.query));
    // Its query has a cursor, so that it may refuse one.
    return answer as Promise<Reply<RefusalOf<R>>>;
  });

export const mapPage = <T, View>({ items, ...position }: Page<T>, view: (item: T) => View): Page<View> => ({
  ...position,
  items: items.map(view),
});

/** The page that ends with the last of these items: the next one continues there. */
export function cutPage<T extends { id: string }>(
  { items: all, ...position }: Page<unknown>,
  items: T[],
): Page<T> {
  const last = items.at(-1);
  if (items.length === all.length || last === undefined) return { items, ...position };
  return { items, next: last.id, ...(position.follow !== undefined && { follow: last.id }) };
}

/**
 * JSON bytes after which a page ends. A Lambda response has at most 6 MB (Lambda quotas), in which the body's
 * quotation marks are escaped again.
 */
const PAGE_BYTES = 2_000_000;
/** Bytes that a response adds to an item: null fields. */
const NULLS_BYTES = 1_000;

const getBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/** Returns the first items that fit into a page as `shown` in the response, at least one. */
export function fitIntoPage<T>(items: readonly T[], shown: (item: T) => unknown): readonly T[] {
  // Almost every page: responses hold a part of the rows.
  if (getBytes(items) + items.length * NULLS_BYTES <= PAGE_BYTES) return items;
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += getBytes(shown(item)) + 1;
    return bytes > PAGE_BYTES;
  });
  return end < 0 ? items : items.slice(0, Math.max(1, end));
}
