import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient } from '../../../support/api.ts';
import type { Organization } from '../an-organization.ts';
import { expectProblem } from './expect-problem.ts';

const WEBHOOKS = '/api/v1/webhooks';
const TICKETS = '/api/v1/tickets';
const KEY = '6f1f4f0c-4d0f-4a36-9f5c-0a5f0f1b2c3d';

/** What any request may look like. */
export function http(organization: Organization): void {
  let callers: ApiClient[];
  beforeAll(() => {
    callers = [organization.api, organization.client(''), organization.client('nonsense')];
  });

  it.each([
    ['GET', `${WEBHOOKS}/`],
    ['POST', `${WEBHOOKS}//`],
    ['GET', '/api//v1/webhooks'],
    ['GET', `${WEBHOOKS}//deliveries`],
    ['PUT', `${TICKETS}/`],
    ['DELETE', '/api/v1/nothing/at/all/'],
    ['GET', '/api/docs/'],
    ['TRACE', '/api/v1/nothing'],
    ['TRACE', WEBHOOKS],
    ['PROPFIND', '/api'],
  ])('to an unknown path is 404 with any credential: %s %s', async (method, path) => {
    for (const api of callers) expectProblem(await api.call({ method, path }), 404, 'NOT_FOUND');
  });

  it('with HEAD is 405 with Allow, without a body', async () => {
    const { status, headers, body } = await organization.api.call({ method: 'HEAD', path: WEBHOOKS });
    expect([status, headers.allow, body]).toEqual([405, 'POST, GET', {}]);
  });

  it('with large headers is 431, in the envelope', async () => {
    const { port } = new URL(organization.place.service().url);
    const socket = connect(Number(port), '127.0.0.1');
    const answer = text(socket);
    socket.write(`GET ${WEBHOOKS} HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(11_000)}\r\n\r\n`);
    expect(await answer).toMatch(/^HTTP\/1\.1 431 [\s\S]+"type":"REQUEST_HEADERS_TOO_LARGE"/);
  });

  describe('with a fault', () => {
    const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
      organization.api.call({ method: 'POST', path, body, headers });

    it.each<[body: unknown, details: object[]]>([
      [
        { url: 'https://example.com:22/', events: [], maxPerSecond: 1.5 },
        [
          { field: 'url', code: 'url_port', message: 'port must be 443 or at least 1024' },
          { field: 'events', code: 'too_few', message: 'must have at least 1 item', limit: 1 },
          { field: 'maxPerSecond', code: 'invalid_type', message: 'must be an integer' },
        ],
      ],
      [
        '{"url":"https://example.com/","url":"https://example.org/","events":["ticket.created"]}',
        [{ field: 'url', code: 'duplicate', message: 'must not be repeated' }],
      ],
    ])('says which: %j', async (body, details) => {
      const answer = await post(WEBHOOKS, body, { 'idempotency-key': KEY });
      expectProblem(answer, 400, 'VALIDATION_ERROR');
      expect(Object(answer.body.error).details).toEqual(details);
    });

    it('in its coding is 415', async () => {
      expectProblem(await post(TICKETS, {}, { 'content-encoding': 'gzip' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    });

    it('such as U+0085 in a text is 400', async () => {
      for (const control of ['\u000b', '\u000c', '\u0085'])
        expectProblem(await post(TICKETS, { reason: `a${control}b` }), 400, 'VALIDATION_ERROR', /carriage/);
    });
  });

  it('may have null for an optional field, and a quoted key', async () => {
    const send = (key: string) =>
      organization.api.call({
        method: 'POST',
        path: TICKETS,
        body: { reason: null },
        headers: { 'idempotency-key': key },
      });
    const [first, again] = [await send(`"${KEY}"`), await send(KEY)];
    expect([first.status, again.status, again.headers['idempotency-replayed']]).toEqual([201, 201, 'true']);
    expect(again.body).toEqual(first.body);
  });

  it('may have a time whose plus arrives as a space', async () => {
    const path = '/api/v1/events?from=2026-11-20T10:30:00+01:00';
    expect((await organization.api.call({ path })).status).toBe(200);
  });
}
