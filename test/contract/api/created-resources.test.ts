import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RouteKey, routes } from '../../../functions/api/routes.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import type { Route } from '../../../functions/http/route.ts';
import { Scope } from '../../../functions/tenancy/api-keys.ts';
import { organizationStore } from '../../../functions/tenancy/organizations.ts';
import { aKeyring } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { largestBody } from '../../support/largest-body.ts';
import { type Api, aBusyOrganization, anApi, type Caller, type Data } from '../store/api-handlers.ts';

const engine = dynamoDb();
let api: Api;
let call: Caller;

beforeAll(async () => {
  const tables = await engine.createdTables();
  api = await anApi(engine, tables, aKeyring());
  const organization = aBusyOrganization();
  await committer(tables.service.client)([organizationStore(tables.service).add(organization)]);
  const admin = api.caller(await api.session(organization.id));
  const { secretOnce } = await admin('createApiKey', { body: { name: 'All', scopes: [...Scope.options] } });
  call = api.caller(String(secretOnce));
});
afterAll(() => api.close());

const all = Object.entries(routes) as [RouteKey, Route][];
/** The route that creates a resource, the one that reads it, and the parameter that names it. */
const pairs = all.flatMap(([create, { method, path, body }]) =>
  all.flatMap(([read, reader]) => {
    const [, parameter] = /^\/\{(\w+)\}$/.exec(reader.path.slice(path.length)) ?? [];
    return method === 'POST' && body && parameter && reader.method === 'GET' && reader.path.startsWith(path)
      ? [{ create, read, parameter, body }]
      : [];
  }),
);

it('there are such routes', () => {
  expect(pairs.length).toBeGreaterThan(6);
});

it.each(pairs)(
  '$read shows every field that $create was given',
  async ({ create, read, parameter, body }) => {
    const conversation = await call('createConversation', {
      body: { channelId: 'web', externalUserId: 'x' },
    });
    const url = `https://example.com/${create}`;
    const endpoint = await call('registerWebhook', { body: { url, events: ['ticket.created'] } });
    const { recover, ...given } = largestBody(body, {
      conversationId: conversation.id,
      url: `https://example.org/${create}`,
      // Of four bytes each, as many characters would be too many for a request.
      content: 'x'.repeat(100_000),
      ...(create === 'createChannel' && { kind: 'http' }),
      ...(/^start(?:Channel)?Redelivery$/.test(create) && {
        what: 'failed',
        from: new Date(Date.now() - 60_000).toISOString(),
        to: new Date().toISOString(),
      }),
    });
    const channel = () => call('createChannel', { body: { kind: 'http', name: 'x', url } });
    const parents: Partial<Record<RouteKey, () => Promise<Data>>> = {
      createMessage: async () => conversation,
      startChannelRedelivery: channel,
    };
    const params = { id: String(((await parents[create]?.()) ?? endpoint).id) };

    const { secret, redelivery, ...created } = await call(create, { params, body: given });
    const shown = await call(read, { params: { ...params, [parameter]: String(created.id) } });

    expect(shown).toEqual(created);
    expect(shown).toMatchObject(given);
  },
);
