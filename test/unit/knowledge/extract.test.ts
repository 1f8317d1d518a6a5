import { describe, expect, it } from 'vitest';
import type { FetchRequest, FetchResult } from '../../../functions/delivery/outbound/client.ts';
import { extractContent } from '../../../functions/knowledge/extract.ts';
import type { ExtractionRequest } from '../../../functions/knowledge/source-content.ts';
import { MAX_SOURCE_BYTES } from '../../../functions/knowledge/sources.ts';
import { gate, requirePermit } from '../../../functions/tenancy/gate.ts';
import { anExtraction } from './extraction-request.ts';

const PAGE: FetchResult = {
  kind: 'fetched',
  url: 'https://www.example.com/prices/',
  contentType: 'text/html',
  etag: '"1"',
  lastModified: 'Fri, 20 Nov 2026 09:00:00 GMT',
  body: Buffer.from('<title>Prices</title><p>one</p>'),
};

/** Extracts a content from a server that a test answers for. */
async function extracted(asked: Partial<ExtractionRequest> = {}, answer: FetchResult = PAGE) {
  const requests: FetchRequest[] = [];
  let isClosed = false;
  const request = anExtraction(asked);
  const extract = extractContent({
    gate: gate(async () => request.organization),
    outbound: {
      async fetch(fetched, permit) {
        requirePermit(permit);
        requests.push(fetched);
        return answer;
      },
      close: () => {
        isClosed = true;
      },
    },
    userAgent: 'Example/1.0',
  });
  return { finding: await extract(request), requests, isClosed: () => isClosed };
}

describe('the extraction of a content', () => {
  it('returns its text with the validators of the response, and closes its connections', async () => {
    const { finding, requests, isClosed } = await extracted();
    expect(finding).toMatchObject({
      kind: 'fetched',
      text: 'one',
      title: 'Prices',
      etag: '"1"',
      lastModified: 'Fri, 20 Nov 2026 09:00:00 GMT',
    });
    expect(requests).toMatchObject([
      { maxBytes: MAX_SOURCE_BYTES, headers: { 'user-agent': 'Example/1.0' } },
    ]);
    expect(isClosed()).toBe(true);
  });

  it.each([
    [{ etag: '"1"' }, { 'if-none-match': '"1"' }],
    [{ lastModified: 'yesterday' }, { 'if-modified-since': 'yesterday' }],
    [{}, {}],
  ])('requests it with the validators of the known version: %j', async (validators, headers) => {
    const { requests } = await extracted(validators);
    const conditions = Object.entries(requests[0]?.headers ?? {}).filter(([name]) => name.startsWith('if-'));
    expect(Object.fromEntries(conditions)).toEqual(headers);
  });

  it.each([
    ['url', 'text/html'],
    ['spreadsheet', 'text/csv'],
    ['feed', 'application/rss+xml'],
  ] as const)('prefers the formats of a %s', async (kind, type) => {
    const { requests } = await extracted({ kind });
    expect(requests[0]?.headers).toHaveProperty('accept', expect.stringContaining(type));
  });

  it('returns the problem of the server or of the content', async () => {
    const failed = { kind: 'failed', errorCode: 'http_status', error: 'the server answered 500' } as const;
    expect((await extracted({}, failed)).finding).toEqual(failed);
    expect((await extracted({}, { kind: 'not-modified' })).finding).toEqual({ kind: 'not-modified' });
    expect((await extracted({}, { ...PAGE, body: Buffer.from('') })).finding).toEqual({
      kind: 'failed',
      error: 'there is no text in the content',
    });
  });

  it('fetches nothing for a sandbox', async () => {
    const { finding, requests } = await extracted({
      organization: { environment: 'sandbox', tier: 'sandbox', generation: 1 },
    });
    expect(finding).toMatchObject({ kind: 'failed' });
    expect(requests).toEqual([]);
  });
});
