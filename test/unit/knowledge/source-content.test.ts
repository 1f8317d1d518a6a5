import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FetchRequest, FetchResult } from '../../../functions/delivery/outbound/client.ts';
import { toSourceContent } from '../../../functions/knowledge/check-source.ts';
import type { Content, Extraction } from '../../../functions/knowledge/source-content.ts';
import { sourceContent } from '../../../functions/knowledge/source-content.ts';
import { MAX_SOURCE_BYTES, type Source } from '../../../functions/knowledge/sources.ts';
import { MAX_TEXT_BYTES } from '../../../functions/knowledge/text.ts';
import { GateClosed, gate, type Permit, requirePermit } from '../../../functions/tenancy/gate.ts';
import { aSource } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';

const PAGE: FetchResult = {
  kind: 'fetched',
  url: 'https://www.example.com/prices/',
  contentType: 'text/html',
  etag: '"1"',
  lastModified: 'Fri, 20 Nov 2026 09:00:00 GMT',
  body: Buffer.from('<p>one</p>'),
};

/** The content fetcher over a server and an extractor that a test answers for. */
function aContentFetcher(
  answer: FetchResult = PAGE,
  extraction: Extraction = { ok: true, text: 'one', title: 'Prices' },
) {
  const states = memoryOrganizationStates();
  const requests: (FetchRequest & { orgId: string })[] = [];
  const extracted: (Content & { kind: string })[] = [];
  const fetchContent = sourceContent({
    userAgent: 'Example/1.0',
    gate: gate(states.of),
    outbound: {
      async fetch(request: FetchRequest, permit: Permit) {
        requirePermit(permit);
        requests.push({ ...request, orgId: permit.orgId });
        return answer;
      },
    },
    async extract(kind, content) {
      extracted.push({ kind, ...content });
      return extraction;
    },
  });
  return { states, requests, extracted, fetchContent };
}

describe('content of a live source', () => {
  it('is fetched for its organization and extracted, with the validators of the response', async () => {
    const { fetchContent, requests, extracted } = aContentFetcher();
    const source = aSource({ kind: 'feed' });

    expect(await fetchContent(source)).toEqual({
      kind: 'fetched',
      text: 'one',
      title: 'Prices',
      etag: '"1"',
      lastModified: 'Fri, 20 Nov 2026 09:00:00 GMT',
    });

    expect(requests).toMatchObject([
      {
        orgId: source.orgId,
        maxBytes: MAX_SOURCE_BYTES,
        headers: { accept: expect.stringContaining('rss') },
      },
    ]);
    expect(requests[0]?.url.href).toBe(source.url);
    expect(requests[0]?.headers).not.toHaveProperty('if-none-match');
    expect(extracted).toEqual([{ kind: 'feed', body: PAGE.body, contentType: 'text/html' }]);
  });

  it.each<[Partial<Source['content']>, Record<string, string>]>([
    [{ etag: '"1"' }, { 'if-none-match': '"1"' }],
    [{ lastModified: 'yesterday' }, { 'if-modified-since': 'yesterday' }],
    [{}, {}],
  ])('is requested with the validators of the known version: %j', async (validators, headers) => {
    const { fetchContent, requests } = aContentFetcher();
    await fetchContent(aSource({ content: { ...toSourceContent(1, { text: 'one' }), ...validators } }));

    const conditions = Object.entries(requests[0]?.headers ?? {}).filter(([name]) => name.startsWith('if-'));
    expect(Object.fromEntries(conditions)).toEqual(headers);
  });

  it.each<[FetchResult, Extraction | undefined, string]>([
    [{ kind: 'failed', error: 'the server answered 500' }, undefined, 'the server answered 500'],
    [PAGE, { ok: false, problem: 'it is no feed' }, 'it is no feed'],
    [
      PAGE,
      { ok: true, text: 'x'.repeat(MAX_TEXT_BYTES + 1) },
      `the text is larger than ${MAX_TEXT_BYTES} bytes`,
    ],
  ])('is an error when there is no text (%#)', async (answer, extraction, error) => {
    const { fetchContent } = aContentFetcher(answer, extraction);
    expect(await fetchContent(aSource())).toEqual({ kind: 'failed', error });
  });

  it('is unmodified when the server answers that, without an extraction', async () => {
    const { fetchContent, extracted } = aContentFetcher({ kind: 'not-modified' });
    expect(await fetchContent(aSource())).toEqual({ kind: 'not-modified' });
    expect(extracted).toEqual([]);
  });
});

describe("content of a sandbox's source", () => {
  it('is simulated by its program and check number, without a request', async () => {
    const programs = fc.constantFrom(
      '',
      '?simulate=200,304',
      '?simulate=503',
      '?simulate=timeout',
      '?simulate=x',
    );
    await fc.assert(
      fc.asyncProperty(programs, fc.integer({ min: 0, max: 5 }), async (program, checks) => {
        const { fetchContent, states, requests, extracted } = aContentFetcher();
        const source = aSource({ generation: 1, url: `https://example.com/${program}`, checks });
        states.makeSandbox(source.orgId);
        await fetchContent(source);
        expect([requests, extracted]).toEqual([[], []]);
      }),
    );
  });

  it('takes the next step at the next check', async () => {
    const { fetchContent, states } = aContentFetcher();
    const source = aSource({ generation: 1, url: 'https://example.com/?simulate=200,304,503' });
    states.makeSandbox(source.orgId);
    const kinds: string[] = [];
    for (let checks = 0; checks < 4; checks += 1)
      kinds.push((await fetchContent({ ...source, checks })).kind);
    expect(kinds).toEqual(['fetched', 'not-modified', 'failed', 'failed']);
  });
});

it('no content is fetched for an unknown organization', async () => {
  const { fetchContent, states, requests } = aContentFetcher();
  const source = aSource();
  states.forget(source.orgId);

  await expect(fetchContent(source)).rejects.toThrow(GateClosed);
  expect(requests).toEqual([]);
});
