import { beforeAll, expect, it } from 'vitest';
import { type RouteKey, routes } from '../../../functions/api/routes.ts';
import type { Route } from '../../../functions/http/route.ts';
import { largestBody } from '../../support/largest-body.ts';
import type { Caller, Data } from '../store/api-handlers.ts';
import { useApi } from './owners.ts';

const { enrol } = useApi();
let call: Caller;

beforeAll(async () => {
  ({ call } = await enrol());
});

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
