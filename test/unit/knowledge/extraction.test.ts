import { type InvokeCommandOutput, LambdaClient } from '@aws-sdk/client-lambda';
import { describe, expect, it, vi } from 'vitest';
import type { FetchRequest, FetchResult } from '../../../functions/delivery/outbound/client.ts';
import { toSourceContent } from '../../../functions/knowledge/check-source.ts';
import { extractContent } from '../../../functions/knowledge/extract.ts';
import { extraction } from '../../../functions/knowledge/extraction.ts';
import {
  type CheckFinding,
  type ExtractionRequest,
  sourceContent,
} from '../../../functions/knowledge/source-content.ts';
import { MAX_SOURCE_BYTES } from '../../../functions/knowledge/sources.ts';
import { MAX_TEXT_BYTES } from '../../../functions/knowledge/text.ts';
import {
  GateClosed,
  gate,
  NotPermitted,
  type Permit,
  requirePermit,
} from '../../../functions/tenancy/gate.ts';
import { aSource } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { aPermit } from '../delivery/outbound/permit.ts';
import { anExtraction } from './extraction-request.ts';

/** Invokes a function that answers so. */
async function answered(output: { FunctionError?: string; answer: unknown }) {
  const client = new LambdaClient({ region: 'us-east-1' });
  const log = recordedLog();
  const sent = vi.spyOn(client, 'send').mockImplementation(
    async (): Promise<Partial<InvokeCommandOutput>> => ({
      ...(output.FunctionError !== undefined && { FunctionError: output.FunctionError }),
      Payload: Buffer.from(
        typeof output.answer === 'string' ? output.answer : JSON.stringify(output.answer),
      ) as never,
    }),
  );
  const extract = extraction({ client, functionName: 'extract' }, log);
  return { finding: await extract(anExtraction(), await aPermit()), log, sent };
}

const failing = (errorType: string, errorMessage = '') =>
  answered({ FunctionError: 'Unhandled', answer: { errorType, errorMessage } });

describe('the extraction function', () => {
  it('is invoked with the request, and returns a finding', async () => {
    const { finding, sent } = await answered({ answer: { kind: 'fetched', text: 'one', choice: 'body' } });
    expect(finding).toEqual({ kind: 'fetched', text: 'one', choice: 'body' });
    expect(sent.mock.calls[0]?.[0].input).toMatchObject({ FunctionName: 'extract' });
  });

  it.each([
    ['Sandbox.Timedout', 'RequestId: 1 Error: Task timed out after 31.00 seconds', 'takes too long to read'],
    ['', '2026-11-28T10:00:00Z 1 Task timed out after 31.00 seconds', 'takes too long to read'],
    ['Runtime.OutOfMemory', 'RequestId: 1 Error: Runtime exited', 'takes too much memory to read'],
    ['Runtime.ExitError', 'Runtime exited with error: signal: killed', 'takes too much memory to read'],
    ['Runtime.ExitError', 'Runtime exited with error: signal: aborted', 'takes too much memory to read'],
    ['Runtime.ExitError', 'Runtime exited with error: exit status 1', 'could not be read'],
    ['Runtime.UnhandledPromiseRejection', 'Error: secret', 'could not be read'],
    ['TypeError', 'x is not a function', 'could not be read'],
    ['Function.ResponseSizeTooLarge', 'Response payload size exceeded', 'could not be read'],
  ])('that fails with %j %j: the content %s', async (errorType, message, problem) => {
    const { finding, log } = await failing(errorType, message);
    expect(finding).toEqual({
      kind: 'failed',
      errorCode: 'invalid_response',
      error: `the content ${problem}`,
    });
    expect(log.entries.map(({ code }) => code)).toEqual(['EXTRACTION_ENDED']);
  });

  it.each(['', 'null', '[]', '{"kind":"fetched"}', '{"kind":"fetched","text":7}', 'no JSON'])(
    'that answers %j: the content could not be read',
    async (answer) => {
      expect((await answered({ answer })).finding).toEqual({
        kind: 'failed',
        errorCode: 'invalid_response',
        error: 'the content could not be read',
      });
    },
  );

  it.each([
    'Runtime.ImportModuleError',
    'Runtime.HandlerNotFound',
    'Runtime.UserCodeSyntaxError',
    'InvocationFailed',
  ])('that could not start with %s fails the check, which is retried', async (errorType) => {
    await expect(failing(errorType)).rejects.toThrow(errorType);
  });

  it('is not invoked without a permit of the gate', async () => {
    const client = new LambdaClient({ region: 'us-east-1' });
    const send = vi.spyOn(client, 'send');
    const extract = extraction({ client, functionName: 'extract' }, recordedLog());
    await expect(extract(anExtraction(), { orgId: 'org_1' } as unknown as Permit)).rejects.toThrow(
      NotPermitted,
    );
    expect(send).not.toHaveBeenCalled();
  });
});

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
      errorCode: 'invalid_response',
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

const FOUND: CheckFinding = {
  kind: 'fetched',
  text: 'one',
  title: 'Prices',
  warnings: [{ code: 'rows_left_out', count: 2 }],
  choice: 'body',
  etag: '"1"',
};

/** The content fetcher over an extraction function that a test answers for. */
function aContentFetcher(answer: CheckFinding = FOUND) {
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
    expect(await fetchContent(source)).toEqual(FOUND);
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
