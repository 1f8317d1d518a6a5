import { createHash } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestSigner } from '../../../functions/aws/signer.ts';

const region = 'eu-central-1';
const aCase = fc.record({
  accessKeyId: fc.stringMatching(/^AKIA[A-Z0-9]{16}$/),
  secretAccessKey: fc.stringMatching(/^[A-Za-z0-9/+]{40}$/),
  sessionToken: fc.option(fc.stringMatching(/^[A-Za-z0-9/+=]{20,60}$/), { nil: undefined }),
  body: fc.string({ unit: 'grapheme', maxLength: 200 }),
  isBinary: fc.boolean(),
  target: fc.string({ unit: fc.constantFrom(' ', '\t', 'a', '.', '"', 'Z'), maxLength: 20 }),
  signingDate: fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
});

const aRequest = (headers: Record<string, string>, body: unknown) => ({
  protocol: 'https:',
  hostname: 'dynamodb.eu-central-1.amazonaws.com',
  method: 'POST',
  path: '/',
  query: {},
  headers,
  body,
});

const signerOf = (credentials: { accessKeyId: string; secretAccessKey: string }) =>
  requestSigner({ service: 'dynamodb', region: () => region, credentials: async () => credentials });

describe('the signer of requests', () => {
  it("signs as the SDK's signer does", async () => {
    await fc.assert(
      fc.asyncProperty(aCase, async ({ body, isBinary, target, signingDate, sessionToken, ...keys }) => {
        const credentials = { ...keys, ...(sessionToken === undefined ? {} : { sessionToken }) };
        const bytes = Buffer.from(body);
        const headers = {
          host: 'dynamodb.eu-central-1.amazonaws.com',
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': target,
          'x-amz-content-sha256': createHash('sha256').update(bytes).digest('hex'),
        };
        const sent = isBinary ? bytes : body;
        const ours = await signerOf(credentials).sign(aRequest({ ...headers }, sent), { signingDate });
        const client = new DynamoDBClient({ region, credentials });
        const sdks = await client.config.signer();
        const theirs = await sdks.sign(aRequest({ ...headers }, sent), {
          signingDate,
          signingService: 'dynamodb',
        });
        expect(ours.headers).toEqual(theirs.headers);
      }),
      { numRuns: 30 },
    );
  });

  it('leaves out headers that proxies may change', async () => {
    const headers = { host: 'h', 'user-agent': 'ours', 'amz-sdk-request': 'attempt=1; max=3' };
    const { headers: signed } = await signerOf({ accessKeyId: 'a', secretAccessKey: 'b' }).sign(
      aRequest(headers, '{}'),
    );
    expect(signed.authorization).toContain('SignedHeaders=host;x-amz-date,');
  });

  it('refuses requests that it cannot sign', async () => {
    const signer = signerOf({ accessKeyId: 'a', secretAccessKey: 'b' });
    for (const request of [
      { ...aRequest({}, '{}'), path: '/other' },
      { ...aRequest({}, '{}'), query: { a: '1' } },
      aRequest({}, new ReadableStream()),
    ])
      await expect(signer.sign(request)).rejects.toThrow('only whole requests');
  });

  it('reads credentials again after it could not', async () => {
    let reads = 0;
    const signer = requestSigner({
      service: 'sqs',
      region: () => region,
      async credentials() {
        reads += 1;
        if (reads === 1) throw new Error('none yet');
        return { accessKeyId: 'a', secretAccessKey: 'b' };
      },
    });
    await expect(signer.sign(aRequest({}, '{}'))).rejects.toThrow('none yet');
    await signer.sign(aRequest({}, '{}'));
    await signer.sign(aRequest({}, '{}'));
    expect(reads).toBe(2);
  });
});
