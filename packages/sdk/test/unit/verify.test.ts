import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import type { ReceivedEvent } from '../../src/receiver/events.ts';
import type { IncomingRequest } from '../../src/receiver/request.ts';
import { type VerifyOptions, verify } from '../../src/receiver/verify.ts';
import { aBody, aSecret, NOW, signedHeaders } from '../signed-request.ts';

const asked = (headers: Record<string, string>, body: string): IncomingRequest =>
  new Request('https://receiver.example/hooks', { method: 'POST', headers, body });

const problemOf = (request: IncomingRequest, secrets: string | string[], options: VerifyOptions = {}) =>
  verify(request, secrets, { now: NOW, ...options }).then(
    () => undefined,
    (error) => error.problem ?? error,
  );

describe('verify', () => {
  it('accepts what the library of Standard Webhooks signs, which accepts what it accepts', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 24, maxLength: 64 }),
        fc.string({ unit: 'binary' }),
        async (key, text) => {
          const secret = aSecret(key);
          const body = aBody({ text });
          const at = new Date();
          const library = new StandardWebhook(secret);
          const headers = signedHeaders(library.sign('evt_1', at, body), at);
          expect(await verify(asked(headers, body), secret)).toMatchObject({ id: 'evt_1' });
          expect(library.verify(body, headers)).toEqual(JSON.parse(body));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('refuses a request when any byte of its body, id, time or signature differs', async () => {
    const secret = aSecret();
    const body = aBody({});
    const headers = signedHeaders(new StandardWebhook(secret).sign('evt_1', NOW, body), NOW);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('body', 'webhook-id', 'webhook-timestamp', 'webhook-signature'),
        fc.nat(),
        fc.constantFrom(...'0123456789abcdefXYZ'),
        async (part, place, character) => {
          const before = part === 'body' ? body : (headers[part as 'webhook-id'] ?? '');
          const at = place % before.length;
          const after = before.slice(0, at) + character + before.slice(at + 1);
          // The last digit of base64 has bits that say nothing.
          fc.pre(after !== before && !(part === 'webhook-signature' && at >= before.length - 2));
          const request =
            part === 'body' ? asked(headers, after) : asked({ ...headers, [part]: after }, body);
          expect(await problemOf(request, secret)).toMatch(
            /^(signature_mismatch|timestamp_too_far|timestamp_invalid)$/,
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  it('accepts a signature by any of several secrets, among several signatures', async () => {
    const [old, next] = [aSecret(new Uint8Array(32).fill(1)), aSecret(new Uint8Array(32).fill(2))];
    const body = aBody({});
    const signature = new StandardWebhook(next).sign('evt_1', NOW, body);
    const headers = signedHeaders(`v1a,bm90IGhlcmU= v1,AAAA ${signature}`, NOW);
    expect(await problemOf(asked(headers, body), [old, next])).toBeUndefined();
    expect(await problemOf(asked(headers, body), old)).toBe('signature_mismatch');
    expect(await problemOf(asked(headers, body), [])).toBe('signature_mismatch');
  });

  it.each([
    [300, undefined],
    [-300, undefined],
    [301, 'timestamp_too_far'],
    [-301, 'timestamp_too_far'],
  ])('judges a timestamp %i seconds from now, with a tolerance of 300', async (seconds, problem) => {
    const secret = aSecret();
    const body = aBody({});
    const headers = signedHeaders(new StandardWebhook(secret).sign('evt_1', NOW, body), NOW);
    const now = new Date(NOW.getTime() + seconds * 1000);
    expect(await problemOf(asked(headers, body), secret, { now })).toBe(problem);
    expect(await problemOf(asked(headers, body), secret, { now, toleranceSeconds: 1000 })).toBeUndefined();
  });

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('needs the header %s', async (name) => {
    const { [name]: _, ...headers }: Record<string, string> = {
      ...signedHeaders(new StandardWebhook(aSecret()).sign('evt_1', NOW, aBody({})), NOW),
    };
    expect(await problemOf(asked(headers, aBody({})), aSecret())).toBe('header_missing');
  });

  it.each(['', 'whsec_', 'secret', 'whsec_***'])('says that %j is no secret', async (secret) => {
    const headers = signedHeaders('v1,AAAA', NOW);
    expect(await problemOf(asked(headers, aBody({})), secret)).toBe('secret_invalid');
  });

  it('says that a signed body is no event', async () => {
    const secret = aSecret();
    for (const body of ['', '[]', 'null', '{"type":1}', '{']) {
      const headers = signedHeaders(new StandardWebhook(secret).sign('evt_1', NOW, body), NOW);
      expect(await problemOf(asked(headers, body), secret)).toBe('body_invalid');
    }
  });

  it('reads requests of Node, frameworks and Lambda functions alike', async () => {
    const secret = aSecret();
    const body = aBody({ text: 'Grüße' });
    const headers = signedHeaders(new StandardWebhook(secret).sign('evt_1', NOW, body), NOW);
    const bytes = Buffer.from(body);
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    const requests: IncomingRequest[] = [
      asked(headers, body),
      Object.assign(Readable.from([bytes.subarray(0, 9), bytes.subarray(9)]), { headers }),
      { headers, body: bytes },
      { headers, body },
      { headers: upper, body, isBase64Encoded: false },
      { headers: upper, body: bytes.toString('base64'), isBase64Encoded: true },
    ];
    for (const request of requests)
      expect(await verify(request, secret, { now: NOW })).toMatchObject({
        id: 'evt_1',
        attempt: 2,
        deliveryId: 'dlv_1',
        data: { text: 'Grüße' },
      });
  });

  it('has each header of a request as a field, unless it serves verification', async () => {
    const fields: Record<string, keyof ReceivedEvent | undefined> = {
      'webhook-id': 'id',
      'webhook-timestamp': undefined,
      'webhook-signature': undefined,
      'webhook-delivery-id': 'deliveryId',
      'webhook-endpoint-id': 'endpointId',
      'webhook-attempt': 'attempt',
      'webhook-example': 'isExample',
    };
    const specification = readFileSync(
      join(import.meta.dirname, '../../../../docs/specification.md'),
      'utf8',
    );
    const specified = [...specification.matchAll(/^\| `(webhook-[\w-]+)` \|/gm)].map(([, name]) => name);
    expect(specified).toEqual(Object.keys(fields));
    const secret = aSecret();
    const body = aBody({});
    const headers = signedHeaders(new StandardWebhook(secret).sign('evt_1', NOW, body), NOW);
    const event = await verify(asked(headers, body), secret, { now: NOW });
    const shown = Object.entries(fields).map(([name, field]) => [name, field && String(event[field])]);
    expect(shown).toEqual(
      Object.entries(fields).map(([name, field]) => [name, field && Object(headers)[name]]),
    );
    const { 'webhook-example': _, ...real } = headers;
    expect(await verify(asked(real, body), secret, { now: NOW })).toMatchObject({ isExample: false });
  });

  it('refuses a body that was parsed, and one that does not end', async () => {
    const headers = signedHeaders('v1,AAAA', NOW);
    const endless = (async function* () {
      for (;;) yield Buffer.alloc(65_536);
    })();
    expect(await problemOf({ headers, body: { type: 'x' } }, aSecret())).toBe('body_parsed');
    expect(await problemOf(Object.assign(endless, { headers }), aSecret())).toBe('body_too_large');
    expect(await problemOf({ headers, body: 'x'.repeat(2 ** 20 + 1) }, aSecret())).toBe('body_too_large');
  });
});
