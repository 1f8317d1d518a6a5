import { randomUUID } from 'node:crypto';
import { until } from 'aws-local/test/until.ts';
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, it } from 'vitest';
import { readDocument, successOf } from '../../../fuzz/document.ts';
import type { Answer } from '../../../support/api.ts';
import { reusing } from '../../../support/resources.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { NOBODYS, validRequest, withHeaders } from '../public-api/requests.ts';
import { expectProblem } from './expect-problem.ts';
import { SANDBOX } from './settings-paths.ts';

const WEBHOOKS = '/api/v1/webhooks';
const CONVERSATIONS = '/api/v1/conversations';

/* What requests with a sandbox key can see and set (docs/specification.md, Sandbox rules). */
const place = aPlace('defaults');
const document = readDocument();

describe('a request in a sandbox', () => {
  let live: Tenant;
  let sandbox: Tenant;
  /** The sandbox, for requests that change nothing. */
  let reader: Tenant;

  /** A test makes up to 50 requests: ten tests stay below a sandbox's budget of a minute. */
  let tests = 0;
  beforeEach(async () => {
    tests += 1;
    if (tests % 10 !== 1) return;
    live = await place.tenant();
    sandbox = await place.sandbox(live);
    reader = reusing(sandbox);
  });

  describe('shows nothing of the live organization', () => {
    it.each(document.operations.filter(({ caller }) => caller === 'key'))('$id', async (operation) => {
      const sent = await validRequest(operation, operation.method === 'GET' ? reader : sandbox);
      const unknown = { ...sent, target: sent.target.replace(/[0-9a-f]{32}/, NOBODYS) };
      const answers = [
        await place.connection().send(sent),
        await place.connection().send(unknown),
        await place.connection().send(withHeaders(sent, { Authorization: undefined })),
      ];
      expect(answers[0]?.status).toBe(successOf(operation));
      for (const { text, headers } of answers)
        expect(text + JSON.stringify(headers)).not.toContain(live.orgId);
    });

    it('in the requests of its deliveries', async () => {
      const { id, secret } = await sandbox.api.register(sandbox.receiver, ['conversation.created']);
      await sandbox.api.createConversation();
      const listed = await until('the delivery to end', async () => {
        const { body } = await sandbox.api.get(`${WEBHOOKS}/${id}/deliveries?include=request`);
        const [delivery, ...others] = body.data ?? [];
        expect(others).toEqual([]);
        return delivery?.terminalAt ? delivery : undefined;
      });
      expect(listed).toMatchObject({ status: 'succeeded', terminalReason: 'sandbox_simulated' });
      const { url, headers, body } = Object(listed.request);
      expect(url).toBe(sandbox.receiver);
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({ orgId: sandbox.orgId });
      const { body: read } = await sandbox.api.get(`${WEBHOOKS}/${id}/deliveries/${listed.id}`);
      expect(JSON.stringify([listed, read])).not.toContain(live.orgId);
    });
  });

  it('has idempotency keys apart from the live ones and from those before a reset', async () => {
    const own = await place.tenant();
    const within = await place.sandbox(own);
    const once = { 'idempotency-key': randomUUID() };
    const create = ({ api }: Tenant) =>
      api.post(CONVERSATIONS, { channelId: 'chn_web', externalUserId: 'ada' }, once);
    const createBoth = async (): Promise<Answer[]> => [await create(own), await create(within)];
    const isReplay = ({ headers }: Answer) => headers['idempotency-replayed'] === 'true';
    const readId = ({ body }: Answer) => body.data?.id;

    const first = await createBoth();
    expect(first.map(({ status }) => status)).toEqual([201, 201]);
    expect(first.map(isReplay)).toEqual([false, false]);
    const again = await createBoth();
    expect(again.map(isReplay)).toEqual([true, true]);
    expect(again.map(readId)).toEqual(first.map(readId));

    expect((await own.admin.post(`${SANDBOX}/reset`)).status).toBe(200);
    const afterwards = await createBoth();
    expect(afterwards.map(isReplay)).toEqual([true, false]);
    expect(new Set([...first, ...afterwards].map(readId)).size).toBe(3);
    expect((await within.api.all(CONVERSATIONS)).map(({ id }) => id)).toEqual([afterwards[1]?.body.data?.id]);
  });

  describe('programs a simulated receiver', () => {
    const at = (query: string) => `https://hooks.example.com/in?${query}`;
    const events = ['conversation.resolved'];
    const register = ({ api }: Tenant, query: string) => api.post(WEBHOOKS, { url: at(query), events });

    it.each([
      'simulate=503',
      'simulate=503,timeout,reset,refused,dns,tls,certificate,200',
      'simulate=200@3s,500@250ms,timeout@1.5s&simulate-speed=1',
      'room=7&simulate-speed=3600&simulate=410',
      'simulate-speed=60',
    ])('with %s', async (query) => {
      const { status, body } = await register(sandbox, query);
      expect([status, body.data?.url]).toEqual([201, at(query)]);
      await sandbox.api.call({ method: 'DELETE', path: `${WEBHOOKS}/${body.data?.id}` });
    });

    it.each([
      'simulate=',
      'simulate=503,',
      'simulate=199',
      'simulate=600',
      'simulate=slow',
      'simulate=200@61s',
      'simulate=200@soon',
      'simulate=503;200',
      'simulate=200&simulate=503',
      `simulate=503${',503'.repeat(50)}`,
      'simulate-speed=',
      'simulate-speed=0',
      'simulate-speed=3601',
      'simulate-speed=1.5',
      'simulate-speed=fast',
      'simulate-speed=2&simulate-speed=3',
    ])('but not with %s, which a live endpoint accepts', async (query) => {
      expectProblem(await register(sandbox, query), 400, 'VALIDATION_ERROR', /^url .* simulate/);
      const valid = await register(sandbox, 'simulate=503');
      const change = { method: 'PATCH', body: { url: at(query) } };
      const created = `${WEBHOOKS}/${valid.body.data?.id}`;
      expectProblem(await sandbox.api.call({ ...change, path: created }), 400, 'VALIDATION_ERROR', /^url/);
      expect((await sandbox.api.get(created)).body.data?.url).toBe(at('simulate=503'));
      await sandbox.api.call({ method: 'DELETE', path: created });

      const accepted = await register(live, query);
      expect([accepted.status, accepted.body.data?.url]).toEqual([201, at(query)]);
      const path = `${WEBHOOKS}/${accepted.body.data?.id}`;
      expect((await live.api.call({ ...change, path })).status).toBe(200);
      await live.api.call({ method: 'DELETE', path });
    });
  });
});
