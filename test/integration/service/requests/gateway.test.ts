import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { expectProblem } from './expect-problem.ts';

/* What the gateway refuses itself. */
const organization = anOrganization(aPlace());
const path = '/api/v1/webhooks';

describe('the gateway', () => {
  it('refuses a body beyond its own limit in the envelope', async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const body = 'x'.repeat(11 * 1024 * 1024);
    const answer = await organization.api.call({ method: 'POST', path, headers, body });
    expectProblem(answer, 413, 'PAYLOAD_TOO_LARGE');
  });

  it.each([`${path}/${'x'.repeat(3000)}`, `${path}/%23%00`, '/api/v1/nothing', '/api/nothing'])(
    'answers 404 for %s',
    async (unknown) => {
      expectProblem(await organization.api.get(unknown), 404, 'NOT_FOUND');
    },
  );

  it.each(['application/json', 'text/plain', 'no type at all'])(
    'answers 405 for another method and 404 for an unknown path, whatever the content type: %s',
    async (type) => {
      const sent = { headers: { 'content-type': type }, body: '<a>' };
      const wrong = await organization.api.call({ method: 'PATCH', path, ...sent });
      expectProblem(wrong, 405, 'METHOD_NOT_ALLOWED');
      expect(String(wrong.headers.allow).split(', ').sort()).toEqual(['GET', 'POST']);
      const unknown = { method: 'POST', path: '/api/v1/nothing', ...sent };
      expectProblem(await organization.api.call(unknown), 404, 'NOT_FOUND');
    },
  );
});
