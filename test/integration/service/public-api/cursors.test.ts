import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../../../functions/api/routes.ts';
import type { Route } from '../../../../functions/http/route.ts';
import { isPaged } from '../../../../lib/openapi/problems.ts';
import { casesOf } from '../../../support/cases.ts';
import { filled } from '../../../support/resources.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';

/**
 * Requests in progress at once: few, because each function starts one execution environment for each of them.
 */
const LANES = 3;

/** A visitor's list is of one conversation, which tests of channels page through. */
const LISTS: readonly Route[] = (Object.values(routes) as Route[]).filter(
  (route) => isPaged(route) && !route.visitor,
);

interface Listing {
  route: Route;
  tenant: Tenant;
  path: string;
}

interface Attempt {
  listing: Listing;
  cursor: string;
}

/** Cursors that are tried in listings of other routes; in all of the same route they always are. */
const ELSEWHERE = casesOf(100, Number.POSITIVE_INFINITY);

/* A cursor continues only the listing that gave it. */
const place = aPlace();

describe('a caller with a cursor', () => {
  let tenant: Tenant;
  /** Listings with a next page. */
  let listings: (Listing & { cursor: string })[];

  beforeAll(async () => {
    tenant = await place.tenant();
    listings = [];
    for (const route of LISTS) listings.push(await longListing(route, tenant));
  });

  const call = ({ route, tenant: caller, path }: Listing, cursor: string) => {
    const { api, admin } = caller;
    return (route.role === undefined ? api : admin).get(
      `${path}?limit=1&cursor=${encodeURIComponent(cursor)}`,
    );
  };

  /** @returns the attempts that were not refused as specified */
  async function findAccepted(attempts: readonly Attempt[]): Promise<unknown[]> {
    const wrong: unknown[] = [];
    // One listing after the other, for the same reason.
    const waiting = [...Map.groupBy(attempts, ({ listing }) => listing.route).values()].flat();
    const lane = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { status, body } = await call(next.listing, next.cursor);
        if (status !== 400 || body.error?.type !== 'VALIDATION_ERROR' || body.data !== undefined)
          wrong.push([next.listing.path, next.cursor, status, body]);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return wrong;
  }

  it('continues every listing', async () => {
    for (const listing of listings) {
      const { status, body } = await call(listing, listing.cursor);
      expect([listing.path, status]).toEqual([listing.path, 200]);
      expect(body.data).toHaveLength(1);
    }
  });

  it('is refused in every other listing: of another route, parent or organization', async () => {
    const stranger = await place.tenant();
    const others: Listing[] = [];
    for (const route of LISTS) others.push(await aListing(route, stranger));
    for (const route of LISTS.filter(({ path }) => path.includes('{')))
      others.push(await aListing(route, tenant));
    const pairs = [...listings, ...others].flatMap((listing) =>
      listings
        .filter((it) => it !== listing)
        .map(({ route, cursor }) => ({ listing, cursor, isSameRoute: route === listing.route })),
    );
    const same = pairs.filter(({ isSameRoute }) => isSameRoute);
    const different = pairs.filter(({ isSameRoute }) => !isSameRoute);
    const tried = Math.min(ELSEWHERE, different.length);
    const some = fc.shuffledSubarray(different, { minLength: tried, maxLength: tried });
    expect(await findAccepted([...same, ...fc.sample(some, 1).flat()])).toEqual([]);
  });
});

const aListing = async (route: Route, tenant: Tenant): Promise<Listing> => ({
  route,
  tenant,
  path: await filled(tenant, `/api${route.path}`),
});

/** A listing of at least two items, and its cursor after the first. */
async function longListing(route: Route, tenant: Tenant): Promise<Listing & { cursor: string }> {
  const listing = await aListing(route, tenant);
  for (let things = 0; things < 2; things += 1) await filled(tenant, `${listing.path}/{id}`);
  const { api, admin } = tenant;
  const { body } = await (route.role === undefined ? api : admin).get(`${listing.path}?limit=1`);
  return { ...listing, cursor: String(body.nextCursor) };
}
