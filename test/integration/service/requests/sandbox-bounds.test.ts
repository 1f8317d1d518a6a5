import { until } from 'aws-local/test/until.ts';
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, it } from 'vitest';
import { readDocument, successOf } from '../../../fuzz/document.ts';
import { reusing } from '../../../support/resources.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { NOBODYS, validRequest, withHeaders } from '../public-api/requests.ts';
import { expectProblem } from './expect-problem.ts';

const WEBHOOKS = '/api/v1/webhooks';

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

  describe('programs a simulated receiver', () => {
    const at = (query: string) => `https://hooks.example.com/in?${query}`;
    const events = ['conversation.resolved'];
    const register = ({ api }: Tenant, query: string) => api.post(WEBHOOKS, { url: at(query), events });

    it.each(['simulate=slow', 'simulate-speed=0'])(
      'but not with %s, which a live endpoint accepts',
      async (query) => {
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
      },
    );
  });
});
