import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { routes } from '../../../../functions/api/routes.ts';
import type { Route } from '../../../../functions/http/route.ts';
import { isPaged } from '../../../../lib/openapi/problems.ts';
import { withSessionRoutes } from '../../../../lib/openapi/session-routes.ts';
import { type Operation, readDocument } from '../../../fuzz/document.ts';
import { casesOf } from '../../../support/cases.ts';
import type { Exchange, Sent } from '../../../support/exchange.ts';
import { filled, idIn, reusing } from '../../../support/resources.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { credentialOf, validRequest, withHeaders } from './requests.ts';

type Keyed = Route & { key: string };
const ALL: readonly Keyed[] = Object.entries(withSessionRoutes(routes)).map(([key, route]) => ({
  ...route,
  key,
}));
/** Routes with a function of their own, or two ways of authentication in one. */
const FIRST_DOORS = ALL.filter(({ key }) => key in routes);
/** Users have no sessions of a sandbox: its settings belong to its live organization, like its keys. */
const OF_KEYS = ALL.filter(({ scope }) => scope !== undefined);

/** Two organizations that must not see each other's data. */
interface Pair {
  owner: Tenant;
  stranger: Tenant;
}

/*
 * On every route of the table, resources of another organization answer as if they did not exist. The deep
 * tests also try what the same functions or other rules refuse: what keys get too as a session, resources of
 * others in a sandbox, and every invalid key.
 */
const place = aPlace();
const document = readDocument();

describe('an organization', () => {
  const OTHERS: readonly [string, readonly Keyed[], () => Promise<Pair>][] = [
    [
      'of another organization',
      casesOf(FIRST_DOORS, ALL),
      async () => ({ owner: await place.tenant(), stranger: await place.tenant() }),
    ],
    [
      'of the sandbox, to its live organization',
      OF_KEYS,
      async () => {
        const stranger = await place.tenant();
        return { owner: await place.sandbox(stranger), stranger };
      },
    ],
  ];
  const TO_SANDBOXES: typeof OTHERS = [
    [
      'of the live organization, to its sandbox',
      OF_KEYS,
      async () => {
        const owner = await place.tenant();
        return { owner, stranger: await place.sandbox(owner) };
      },
    ],
    [
      'of another organization’s sandbox, to a sandbox',
      OF_KEYS,
      async () => {
        const [first, second] = [await place.tenant(), await place.tenant()];
        return { owner: await place.sandbox(first), stranger: await place.sandbox(second) };
      },
    ],
  ];
  describe.each([...OTHERS, ...casesOf([], TO_SANDBOXES)])('%s', (_, table, pair) => between(table, pair));
});

function between(table: readonly Keyed[], pair: () => Promise<Pair>): void {
  let owner: Tenant;
  let stranger: Tenant;
  let revoked: string;
  /** Identifiers of one resource of each kind of the owner, and its organization's id. */
  const owned: string[] = [];

  beforeAll(async () => {
    // No request changes their resources, so all of them may name the same ones.
    const made = await pair();
    [owner, stranger] = [reusing(made.owner), reusing(made.stranger)];
    // The stranger has a resource of each kind too, so that lists are not empty.
    if (table !== OF_KEYS) for (const tenant of [owner, stranger]) await place.sandbox(tenant);
    owned.push(owner.orgId);
    for (const { path } of table.filter(({ method, path: it }) => method !== 'POST' && it.endsWith('}')))
      for (const tenant of [owner, stranger]) {
        const id = idIn(await filled(tenant, `/api${path}`));
        if (tenant === owner) owned.push(id);
      }
    const { body } = await owner.admin.post('/api/settings/api-keys', {
      name: 'Lost',
      scopes: ['write:webhooks'],
    });
    revoked = String(body.data?.secretOnce);
    await owner.admin.call({ method: 'DELETE', path: `/api/settings/api-keys/${body.data?.id}` });
  });

  /**
   * Leaves out rows that change without these calls: counts that workers update seconds later, slots of
   * running checks, last uses of keys, which belong to the live organization, what the purge deletes of an
   * erased conversation, and open deliveries, which are attempted again. An attempt that a request asks for
   * leaves an order in the outbox.
   */
  async function itemsWith(texts: readonly string[]): Promise<string[]> {
    const lines = await place.service().itemsWith(texts);
    const erased = lines.flatMap((line) => /conversationIds: \[ '(cnv_\w+)'/.exec(line)?.[1] ?? []);
    return lines.filter(
      (line) =>
        !/^\S*(Ledger|Usage)Table|#used#key_|sk: 'check-slots'/.test(line) &&
        !/^\S*DeliveriesTable.*status: '(pending|retrying)'/s.test(line) &&
        !erased.some((id) => line.includes(id)),
    );
  }

  const getCaller = ({ role, visitor }: Route) =>
    visitor ? 'visitor' : role === undefined ? 'key' : 'session';
  const send = (sent: Sent, credential: string): Promise<Exchange> =>
    place.connection().send(withHeaders(sent, { Authorization: `Bearer ${credential}` }));

  const turns = table.map((route, turn) => ({ ...route, turn }));

  it.each(turns)('$key shows a stranger nothing of it and changes nothing', async (route) => {
    const theirs = await validRequest(findOperation(route.key), owner);
    expectIds(route, theirs);
    const named = [...theirs.target.matchAll(ANY_ID), ...(theirs.body ?? '').matchAll(ANY_ID)].map(String);
    const all = [...owned, ...named];
    // Every item has the id of its organization.
    const stored = [owner.orgId, ...named];
    const before = await itemsWith(stored);

    const expected = named.length > 0 && route.method !== 'DELETE' ? 404 : route.success.status;
    for (const attempt of [theirs, ...(await crossParents(route, theirs, stranger))]) {
      const answer = await send(attempt, await credentialOf({ caller: getCaller(route) }, stranger));
      expect([attempt, answer.status]).toEqual([attempt, expected]);
      for (const id of all) expect(answer.text).not.toContain(id);
    }
    // An unknown key of a sandbox, or a revoked key. Session routes refuse anything in the form of a key.
    const unknown = [`ck_sandbox_${'A'.repeat(43)}`, revoked, revoked.replace('live', 'sandbox')];
    for (const credential of casesOf(unknown.slice(route.turn % 3, (route.turn % 3) + 1), unknown))
      expect((await send(theirs, credential)).status).toBe(route.role === undefined ? 401 : 403);
    expect(await itemsWith(stored)).toEqual(before);
  });

  describe('lists', () => {
    const lists = table.filter((route) => isPaged(route) && !route.visitor && !route.path.includes('{'));

    it.each(lists)('$key contains only the caller’s own items', async (route) => {
      const mine = await (getCaller(route) === 'key' ? stranger.api : stranger.admin).all(
        `/api${route.path}`,
      );
      expect(mine).not.toEqual([]);
      for (const { id } of mine) expect(owned).not.toContain(id);
    });
  });
}

const ANY_ID = /\b[a-z]{3}_[0-9a-f]{32}\b/g;

function findOperation(id: string): Operation {
  const match = document.operations.find((operation) => operation.id === id);
  if (match === undefined)
    throw new Error(`the document has no operation ${id}: npm run generate -- openapi`);
  return match;
}

/** A request of the suite must name a resource wherever the route takes an identifier. */
function expectIds({ path, body }: Route, sent: Sent): void {
  const inPath = path.match(/\{\w+\}/g) ?? [];
  expect(sent.target.match(ANY_ID) ?? []).toHaveLength(inPath.length);
  const inBody =
    body === undefined
      ? []
      : (JSON.stringify(z.toJSONSchema(body, { io: 'input' })).match(/"\^[a-z]{3}_/g) ?? []);
  expect(sent.body?.match(ANY_ID) ?? []).toHaveLength(inBody.length);
}

/** Requests for a child resource below a parent of the stranger. */
async function crossParents({ path }: Route, theirs: Sent, stranger: Tenant): Promise<Sent[]> {
  const below = path.split('/{').length > 2;
  if (!below) return [];
  const mine = (await filled(stranger, `/api${path}`)).split('/');
  const target = theirs.target.split('/');
  const first = target.findIndex((segment) => segment.match(ANY_ID));
  return [{ ...theirs, target: target.with(first, mine[first] ?? '').join('/') }];
}
