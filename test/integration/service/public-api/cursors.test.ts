import { randomBytes, randomInt } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../../../functions/api/routes.ts';
import { type Keyring, sealCursor } from '../../../../functions/aws/keyrings.ts';
import type { Route } from '../../../../functions/http/route.ts';
import { isPaged } from '../../../../lib/openapi/problems.ts';
import { aKeyring } from '../../../builders.ts';
import { casesOf } from '../../../support/cases.ts';
import { filled } from '../../../support/resources.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';

const PAGE = 7;
/** A generous limit, not a measure of speed: on a busy machine twenty seconds have become minutes. */
const LONG = { timeout: 240_000 };
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

/** Altered cursors that are tried. */
const ALTERED = casesOf(100, 2_000);
/** Cursors that are tried in listings of other routes; in all of the same route they always are. */
const ELSEWHERE = casesOf(100, Number.POSITIVE_INFINITY);
/** Conversations that are listed. */
const LISTED = casesOf(50, 1_000);

/* A cursor continues only the listing that gave it, and a text that is not a cursor is refused. */
const place = aPlace('defaults');

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

  it('is null on the last page of every list', async () => {
    const queries = [
      ...listings.map((listing) => ({ listing, query: '' })),
      ...listings
        .filter(({ route }) => route.success.followed)
        .map((listing) => ({ listing, query: '&order=asc' })),
    ];
    expect(queries.length).toBe(listings.length + 1);
    for (const { listing, query } of queries) {
      const { route, tenant: caller, path } = listing;
      const { api, admin } = caller;
      for (let [cursor, pages]: [string | null, number] = ['', 0]; cursor !== null; pages += 1) {
        expect(pages, `pages of ${path}`).toBeLessThan(20);
        const rest = `${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
        const { body } = await (route.role === undefined ? api : admin).get(`${path}?limit=100${rest}`);
        expect([path, body.nextCursor, body.followCursor]).toEqual([
          path,
          body.nextCursor ?? null,
          query === '' ? route.success.followed && null : expect.any(String),
        ]);
        cursor = body.nextCursor ?? null;
      }
    }
  });

  it(`is refused in ${ALTERED} alterations, never read as the first page`, LONG, async () => {
    const seed = randomInt(2 ** 31);
    const attempts = fc.sample(
      fc.constantFrom(...listings).chain((listing) => {
        const { cursor: other } = listings[(listings.indexOf(listing) + 1) % listings.length] ?? listing;
        return arbitraryAlteration(listing.cursor, other)
          .filter((cursor) => cursor !== listing.cursor)
          .map((cursor) => ({ listing, cursor }));
      }),
      { numRuns: ALTERED, seed },
    );
    expect(await findAccepted(attempts), `seed ${seed}`).toEqual([]);
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

  it('is refused when sealed with another key or for another generation', async () => {
    const sealed = listings.flatMap((listing) =>
      [aKeyring(), randomKeyring()].flatMap((ring) =>
        [0, 1].map((generation) => ({
          listing,
          cursor: sealCursor(ring, 'zzz', {
            tenant: `${listing.tenant.orgId}#${generation}`,
            route: listing.route.name,
            filters: [...listing.path.matchAll(/[a-z]{3}_[0-9a-f]{32}/g)].map(String),
          }),
        })),
      ),
    );
    expect(await findAccepted(sealed)).toEqual([]);
  });

  it(
    `leads through ${LISTED} conversations in pages of ${PAGE}, each once and in order, during writes`,
    LONG,
    async () => {
      const { api } = await place.tenant();
      const expected: string[] = [];
      const lane = async () => {
        while (expected.length < LISTED) {
          const at = expected.push('') - 1;
          expected[at] = await api.createConversation();
        }
      };
      await Promise.all(Array.from({ length: LANES }, lane));
      expected.sort().reverse();

      let isListed = false;
      let meanwhile = 0;
      const writer = async () => {
        for (; !isListed; meanwhile += 1) await api.createConversation();
      };
      const writing = Promise.all([writer(), writer()]);
      const seen: string[] = [];
      for (let cursor: string | null | undefined = ''; cursor !== null; ) {
        const page = await api.get(`/api/v1/conversations?limit=${PAGE}${cursor ? `&cursor=${cursor}` : ''}`);
        expect(page.status).toBe(200);
        seen.push(...[...(page.body.data ?? [])].map(({ id }) => String(id)));
        cursor = page.body.nextCursor;
      }
      isListed = true;
      await writing;

      expect(meanwhile).toBeGreaterThan(LISTED / PAGE / 10);
      expect(new Set(seen).size).toBe(seen.length);
      const older = new Set(expected);
      expect(seen.filter((id) => older.has(id))).toEqual(expected);
    },
  );
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

const randomKeyring = (): Keyring => ({ current: '1', 1: randomBytes(32).toString('base64url') });

/** A cursor that differs slightly from the given one. */
function arbitraryAlteration(cursor: string, other: string): fc.Arbitrary<string> {
  const bytes = Buffer.from(cursor, 'base64url');
  const at = fc.nat({ max: cursor.length - 1 });
  const character = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
  return fc.oneof(
    // Flips a bit of the sealed bytes.
    fc.nat({ max: bytes.length * 8 - 1 }).map((bit) => {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      return flipped.toString('base64url');
    }),
    fc.tuple(at, character).map(([index, it]) => cursor.slice(0, index) + it + cursor.slice(index + 1)),
    fc.tuple(at, at).map(([one, two]) => swapCharacters(cursor, one, two)),
    at.map((length) => cursor.slice(0, length)),
    at.map((from) => cursor.slice(from)),
    fc.string({ minLength: 1, maxLength: 20 }).map((tail) => cursor + tail),
    fc.string({ minLength: 1, maxLength: 20 }).map((head) => head + cursor),
    fc.tuple(at, at).map(([one, two]) => cursor.slice(0, one) + other.slice(two)),
    fc.constantFrom(
      cursor + cursor,
      cursor + other,
      other + cursor,
      bytes.toString('base64'),
      `${bytes.toString('base64url')}=`,
      bytes.toString('hex'),
      bytes.toString('latin1'),
      cursor.toUpperCase(),
      cursor.toLowerCase(),
      [...cursor].reverse().join(''),
      encodeURIComponent(`${cursor}\0`),
      '',
      '0',
      'null',
      'undefined',
      '%',
    ),
    fc
      .uint8Array({ minLength: 0, maxLength: 120 })
      .map((random) => Buffer.from(random).toString('base64url')),
    fc
      .uint8Array({ minLength: bytes.length - 1, maxLength: bytes.length - 1 })
      .map((random) => Buffer.concat([bytes.subarray(0, 1), random]).toString('base64url')),
  );
}

function swapCharacters(text: string, first: number, two: number): string {
  const characters = [...text];
  return characters
    .with(first, text[two] ?? '')
    .with(two, text[first] ?? '')
    .join('');
}
