import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type InvokeCommandOutput, LambdaClient } from '@aws-sdk/client-lambda';
import { LocalFunction } from 'aws-local/functions/runtime.ts';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { extraction } from '../../../functions/knowledge/extraction.ts';
import type { CheckFinding, ExtractionRequest } from '../../../functions/knowledge/source-content.ts';
import { extractBuild } from '../../../lib/infra/bundle.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { aPermit } from '../delivery/outbound/permit.ts';
import { authority, httpsReceiver } from '../delivery/outbound/receivers.ts';
import { content, rowsOf, workbookFiles, XLSX, zip } from './contents.ts';
import { anExtraction } from './extraction-request.ts';

const directory = mkdtempSync(join(tmpdir(), 'extract-content-'));
const caFile = join(directory, 'authority.pem');

beforeAll(async () => {
  writeFileSync(caFile, authority.cert);
  await build(extractBuild(directory));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const ENVIRONMENT = {
  AWS_EXECUTION_ENV: 'local_nodejs24.x',
  LOOPBACK_RECEIVERS: 'allow',
  NODE_EXTRA_CA_CERTS: caFile,
};

type Served = ReturnType<typeof content>;

const NEXT = content('next', 'text/plain');

/** The function as it is deployed, in the runtime of Lambda, with a server for contents. */
async function aFunction(limits: { timeoutSeconds?: number; memoryMiB?: number } = {}) {
  const requests: string[] = [];
  let served: Served | 'nothing' = NEXT;
  const server = await httpsReceiver(({ url }, response) => {
    requests.push(String(url));
    if (served === 'nothing') return;
    const { body, contentType } = served;
    response.writeHead(200, contentType === undefined ? {} : { 'content-type': contentType }).end(body);
  });
  const lines: string[] = [];
  const fn = new LocalFunction({
    name: 'extract-content',
    directory,
    handler: 'index.handler',
    timeoutSeconds: 25,
    memoryMiB: 512,
    environment: ENVIRONMENT,
    maxSandboxes: 1,
    statements: [],
    onLog: (line) => lines.push(line),
    ...limits,
  });
  onTestFinished(() => fn.stop());
  const client = new LambdaClient({ region: 'us-east-1' });
  vi.spyOn(client, 'send').mockImplementation(
    async ({ input }: { input: unknown }): Promise<Partial<InvokeCommandOutput>> => {
      const event = Buffer.from(Object(input).Payload).toString();
      const { functionError, payload } = await fn.invokeSerialized(event);
      return {
        ...(functionError && { FunctionError: functionError }),
        Payload: Buffer.from(JSON.stringify(payload)) as never,
      };
    },
  );
  const extract = extraction({ client, functionName: fn.name }, recordedLog());
  return {
    url: server.url('localhost', '/content').href,
    requests,
    lines,
    async extract(given: Served | 'nothing', asked: Partial<ExtractionRequest> = {}): Promise<CheckFinding> {
      served = given;
      const request = anExtraction({ url: server.url('localhost', '/content').href, ...asked });
      return extract(request, await aPermit(request.orgId));
    },
  };
}

describe('the function extract-content', () => {
  it('reads pages, feeds, tables and workbooks, and returns the text', async () => {
    const { extract } = await aFunction();
    const page = `<title>T</title><article>${'<p>One sentence, and another one. </p>'.repeat(30)}</article>`;
    expect(await extract(content(page, 'text/html'))).toMatchObject({ kind: 'fetched', title: 'T' });
    const feed = '<rss version="2.0"><channel><item><title>One</title></item></channel></rss>';
    expect(await extract(content(feed, 'text/xml'), { kind: 'feed' })).toMatchObject({ text: 'One' });
    expect(await extract(content('a,b', 'text/csv'), { kind: 'spreadsheet' })).toMatchObject({
      text: 'a | b',
    });
    const book = content(zip(workbookFiles({ Sheet1: rowsOf([['a']]) })), XLSX);
    expect(await extract(book, { kind: 'spreadsheet' })).toMatchObject({ text: 'a' });
    // Each takes four bytes of the function's answer.
    const largest = '"'.repeat(1_000_000);
    expect(Object(await extract(content(largest, 'text/plain'))).text === largest).toBe(true);
    expect(await extract(content(Uint8Array.of(0x89, 0x50), 'image/png'))).toEqual({
      kind: 'failed',
      errorCode: 'invalid_response',
      error: 'the content is of type image/png, not a page',
    });
  });

  it('is stopped when it takes too long, and reads the next', async () => {
    const { extract } = await aFunction({ timeoutSeconds: 4 });
    expect(await extract('nothing')).toEqual({
      kind: 'failed',
      errorCode: 'invalid_response',
      error: 'the content takes too long to read',
    });
    expect(await extract(NEXT)).toMatchObject({ text: 'next' });
  });

  it('is ended by its limit of time and not before it', async () => {
    const { url } = await aFunction();
    const program = `const { handler } = await import(process.argv[1]);
    const answer = await handler(JSON.parse(process.argv[2]), { getRemainingTimeInMillis: () => 0 });
    process.stdout.write(JSON.stringify(answer));`;
    const request = JSON.stringify(anExtraction({ url }));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type', 'module', '-e', program, join(directory, 'index.mjs'), request],
      { env: ENVIRONMENT },
    );
    expect(JSON.parse(stdout)).toMatchObject({ text: 'next' });
  });

  it('is stopped by content that fills its memory, and reads the next', async () => {
    const { extract } = await aFunction({ memoryMiB: 64 });
    expect(await extract(content('<p>x'.repeat(199_000), 'text/html'))).toEqual({
      kind: 'failed',
      errorCode: 'invalid_response',
      error: 'the content takes too much memory to read',
    });
    expect(await extract(NEXT)).toMatchObject({ text: 'next' });
  });

  it('fetches no URL in a content, and prints nothing of it', async () => {
    const { extract, url, requests, lines } = await aFunction();
    const page = `<html><head><base href="${url}x"><link rel=stylesheet href="${url}x"><script src="${url}x"></script></head><body><img src="${url}x"><iframe src="${url}x"></iframe><object data="${url}x"></object>text</body></html>`;
    expect(await extract(content(page, 'text/html'))).toMatchObject({ text: 'text' });
    const entity = `<!DOCTYPE rss [<!ENTITY e SYSTEM "${url}x">]><rss version="2.0"><channel><item><title>&e;</title></item></channel></rss>`;
    expect(await extract(content(entity, 'text/xml'), { kind: 'feed' })).toMatchObject({ text: '&e;' });
    const style = `<?xml-stylesheet href="${url}x"?><rss version="2.0"><channel><item><title>text</title></item></channel></rss>`;
    expect(await extract(content(style, 'text/xml'), { kind: 'feed' })).toMatchObject({ text: 'text' });
    expect(new Set(requests)).toEqual(new Set(['/content']));
    expect(lines).toEqual([]);
  });

  it('fetches nothing of a blocked host', async () => {
    const { extract, requests } = await aFunction();
    expect(await extract(NEXT, { blockedHosts: ['localhost'] })).toMatchObject({
      kind: 'failed',
      error: expect.stringContaining('blocked'),
    });
    expect(requests).toEqual([]);
  });
});
