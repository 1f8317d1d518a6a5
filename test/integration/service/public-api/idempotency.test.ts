import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../../../functions/api/routes.ts';
import type { Route } from '../../../../functions/http/route.ts';
import { getSessionOperationId, withSessionRoutes } from '../../../../lib/openapi/session-routes.ts';
import { type Operation, readDocument } from '../../../fuzz/document.ts';
import { casesOf } from '../../../support/cases.ts';
import type { Exchange } from '../../../support/exchange.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { credentialOf, validRequest, withHeaders } from './requests.ts';

/**
 * Keys of rows that workers write or remove: the first exist while a redelivery job runs, the second once a
 * redelivery has succeeded.
 */
const OF_WORKERS = ['redelivery-runs#', '#arrived#'];

const ALL: readonly (Route & { key: string })[] = Object.entries(withSessionRoutes(routes)).map(
  ([key, route]) => ({
    ...route,
    key,
  }),
);
const POSTS = ALL.filter(({ method, path }) => method === 'POST' && path.startsWith('/v1/'));
const WITH_SESSION_ROUTE = POSTS.filter(({ dashboard }) => dashboard !== undefined);

/** Requests that are sent side by side. */
const AT_ONCE = casesOf(8, 100);
/** The same code commits the record of each with its effect. */
const SOME = POSTS.filter((_, index) => index % casesOf(4, 1) === 0);

/* Requests with one idempotency key have one effect. */
const place = aPlace();
const document = readDocument();

describe('an idempotency key', () => {
  let tenant: Tenant;

  beforeAll(async () => {
    tenant = await place.tenant();
  });

  const parseData = ({ text }: Exchange): unknown => JSON.parse(text).data;
  const isReplay = ({ headers }: Exchange): boolean => headers['idempotency-replayed'] === 'true';
  /** One key for all routes, because it belongs to one route and one organization. */
  const key = randomUUID();
  const requestWithKey = async (id: string, caller: Tenant) =>
    withHeaders(await validRequest(findOperation(id), caller), { 'Idempotency-Key': key });

  it('is accepted by every POST of the public API', () => {
    expect(POSTS.filter((route) => route.idempotency === undefined).map(({ key }) => key)).toEqual([]);
  });

  it.each(POSTS)('gets the first answer of $key again, including secrets', async ({ key: id, success }) => {
    const sent = await requestWithKey(id, tenant);
    const [first, second] = [await place.connection().send(sent), await place.connection().send(sent)];
    expect([first.status, second.status]).toEqual([success.status, success.status]);
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
    expect(parseData(second)).toEqual(parseData(first));
    expect(second.headers.location).toBe(first.headers.location);
  });

  it.each(SOME)('of one organization is a new one of another, for $key', async ({ key: id, success }) => {
    for (const caller of [await place.tenant(), await place.tenant()]) {
      const answer = await place.connection().send(await requestWithKey(id, caller));
      expect([answer.status, isReplay(answer)]).toEqual([success.status, false]);
    }
  });

  it.each(SOME)(
    `gives ${AT_ONCE} concurrent requests of $key the effect of one`,
    async ({ key: id, success }) => {
      const operation = findOperation(id);
      const first = await observeEffect(operation, 1);
      const many = await observeEffect(operation, AT_ONCE);
      expect(many.written).toEqual(first.written);
      // Requests beyond a visitor's limit are refused before their key counts.
      const refused = operation.caller === 'visitor' ? [409, 429] : [409];
      const made = many.answers.filter(({ status }) => !refused.includes(status));
      expect(new Set(made.map(({ status }) => status))).toEqual(new Set([success.status]));
      expect(made.filter((answer) => !isReplay(answer))).toHaveLength(1);
      expect(new Set(made.map(({ text }) => text)).size).toBe(1);
    },
  );

  it.each(WITH_SESSION_ROUTE)(
    'is the same key in both authentication modes of $key',
    async ({ key: id, success }) => {
      const [withKey, withSession] = [findOperation(id), findOperation(getSessionOperationId(id))];
      const sent = await validRequest(withKey, tenant);
      const bySession = {
        ...withHeaders(sent, { Authorization: `Bearer ${await credentialOf(withSession, tenant)}` }),
        target: sent.target.replace('/api/v1/', '/api/settings/'),
      };
      const answers = [];
      for (const request of [bySession, sent, bySession])
        answers.push(await place.connection().send(request));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => success.status));
      expect(answers.map(isReplay)).toEqual([false, true, true]);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      const doors = answers.map(({ headers }) => headers.location?.split('/')[2]);
      expect([undefined, 'settings,v1,settings']).toContain(doors[0] && doors.join());
    },
  );

  /** Items that these requests add or change, by table. */
  async function observeEffect(operation: Operation, requests: number) {
    const alone = await place.tenant();
    const sent = await validRequest(operation, alone);
    const items = () => place.service().itemsWith([alone.orgId]);
    const before = new Set(await items());
    const answers = await Promise.all(Array.from({ length: requests }, () => place.connection().send(sent)));
    const written: Record<string, number> = {};
    // The first delivery changes its endpoint.
    const endpoints = [...before].flatMap((item) => /sk: '(?:whk|chn)_\w+'/.exec(item)?.[0] ?? []);
    for (const item of await items()) {
      if (endpoints.some((key) => item.includes(key))) continue;
      const [table = ''] = item.split(' ', 1);
      if (before.has(item) || !SYNCHRONOUS.test(table) || OF_WORKERS.some((of) => item.includes(of)))
        continue;
      written[table] = (written[table] ?? 0) + 1;
    }
    return { answers, written };
  }
});

/** Tables that a request itself writes to. Deliveries follow later, one for each event. */
const SYNCHRONOUS = /ServiceTable|OutboxTable/;

function findOperation(id: string): Operation {
  const match = document.operations.find((operation) => operation.id === id);
  if (match === undefined)
    throw new Error(`the document has no operation ${id}: npm run generate -- openapi`);
  return match;
}
