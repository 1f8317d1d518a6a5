import { describe, expect, it } from 'vitest';
import { toSourceContent } from '../../../functions/knowledge/check-source.ts';
import type { CheckFinding, ExtractionRequest } from '../../../functions/knowledge/source-content.ts';
import { sourceContent } from '../../../functions/knowledge/source-content.ts';
import { MAX_TEXT_BYTES } from '../../../functions/knowledge/text.ts';
import { GateClosed, gate, requirePermit } from '../../../functions/tenancy/gate.ts';
import { aSource } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';

const PAGE: CheckFinding = {
  kind: 'fetched',
  text: 'one',
  title: 'Prices',
  warnings: [{ code: 'rows_left_out', count: 2 }],
  choice: 'body',
  etag: '"1"',
};

/** The content fetcher over an extraction function that a test answers for. */
function aContentFetcher(answer: CheckFinding = PAGE) {
  const states = memoryOrganizationStates();
  const requests: ExtractionRequest[] = [];
  const fetchContent = sourceContent({
    gate: gate(states.of),
    organizations: states,
    blockedHosts: async () => ['blocked.example.com'],
    async extract(request, permit) {
      requirePermit(permit);
      expect(permit.orgId).toBe(request.orgId);
      requests.push(request);
      return answer;
    },
  });
  return { states, requests, fetchContent };
}

describe('content of a live source', () => {
  it('is requested for its organization, with the blocked hosts', async () => {
    const { fetchContent, requests } = aContentFetcher();
    const source = aSource({ kind: 'feed' });
    expect(await fetchContent(source)).toEqual(PAGE);
    expect(requests).toMatchObject([
      {
        orgId: source.orgId,
        organization: { environment: 'live' },
        kind: 'feed',
        url: source.url,
        blockedHosts: ['blocked.example.com'],
      },
    ]);
  });

  it('is requested with the validators and the choice of the known version', async () => {
    const { fetchContent, requests } = aContentFetcher();
    const known = { etag: '"1"', lastModified: 'yesterday', choice: 'body' };
    await fetchContent(aSource({ content: { ...toSourceContent(1, { text: 'one' }), ...known } }));
    await fetchContent(aSource());

    expect(requests[0]).toMatchObject(known);
    for (const name of Object.keys(known)) expect(requests[1]).toHaveProperty(name, undefined);
  });

  it.each<[CheckFinding, CheckFinding]>([
    [{ kind: 'not-modified' }, { kind: 'not-modified' }],
    [
      { kind: 'failed', errorCode: 'http_status', error: 'the server answered 500' },
      { kind: 'failed', errorCode: 'http_status', error: 'the server answered 500' },
    ],
    [
      { kind: 'fetched', text: 'x'.repeat(MAX_TEXT_BYTES + 1) },
      {
        kind: 'failed',
        errorCode: 'invalid_response',
        error: `the text is larger than ${MAX_TEXT_BYTES} bytes`,
      },
    ],
  ])('is what the extraction found, unless its text is too large (%#)', async (answer, expected) => {
    const { fetchContent } = aContentFetcher(answer);
    expect(await fetchContent(aSource())).toEqual(expected);
  });
});

it('no content is fetched for an unknown organization', async () => {
  const { fetchContent, states, requests } = aContentFetcher();
  const source = aSource();
  states.forget(source.orgId);

  await expect(fetchContent(source)).rejects.toThrow(GateClosed);
  expect(requests).toEqual([]);
});
