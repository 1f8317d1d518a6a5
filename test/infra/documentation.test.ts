import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleDocumentation, DOCUMENTATION } from '../../lib/infra/bundle.ts';
import { currentDocument } from '../../lib/openapi/current.ts';

describe('the bundled functions', () => {
  type Handler = (event: object) => Promise<APIGatewayProxyResult>;
  let directory: string;
  let docs: Handler;
  let readOpenApi: Handler;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'bundle-'));
    const directoryOf = await bundleDocumentation(directory);
    const load = async (name: (typeof DOCUMENTATION)[number]): Promise<Handler> =>
      (await import(pathToFileURL(join(directoryOf(name), 'index.mjs')).href)).handler;
    [docs, readOpenApi] = [await load('docs'), await load('read-openapi')];
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const event = (file?: string) => ({
    headers: {},
    pathParameters: file === undefined ? null : { file },
    requestContext: { extendedRequestId: 'extended-request-id' },
  });

  /** What the page loads or refers to, besides places of its own and links to other sites. */
  const references = async () => {
    const { body } = await docs(event());
    const links = body.replaceAll(/<a href="https:[^"]+"/g, '');
    return [...links.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, url = '']) => url);
  };

  it('return the document as the route table has it', async () => {
    const { statusCode, body } = await readOpenApi(event());
    expect(statusCode).toBe(200);
    expect(JSON.parse(body)).toEqual(currentDocument());
  });

  it('return a page that refers only to its own files and the document', async () => {
    const urls = new Set(await references());
    expect(urls.delete('/api/openapi.json')).toBe(true);
    expect(urls.size).toBe(3);
    for (const url of urls) expect(url).toMatch(/^\/api\/docs\/[a-z-]+\.[0-9a-f]{16}\.(js|css|svg)$/);
  });

  it('return each of these files, small enough for an answer, without source maps', async () => {
    for (const url of await references()) {
      if (url === '/api/openapi.json') continue;
      const answer = await docs(event(url.split('/').at(-1)));
      expect(answer.statusCode).toBe(200);
      expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(6 * 1024 * 1024);
      expect(answer.body).not.toContain('sourceMappingURL');
    }
  });

  it.each(DOCUMENTATION)('are deployed in 400 KiB at most: %s', (name) => {
    const files = readdirSync(join(directory, name), { recursive: true, withFileTypes: true });
    const sizes = files
      .filter((file) => file.isFile())
      .map((file) => statSync(join(file.parentPath, file.name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(400 * 1024);
  });

  it.each(['nothing.js', '..', '../index.mjs', 'page', '__proto__'])(
    'answer 404 in the error envelope for %s',
    async (file) => {
      const { statusCode, headers, body } = await docs(event(file));
      expect(statusCode).toBe(404);
      expect(headers).toMatchObject({ 'Request-Id': 'extended-request-id', 'Cache-Control': 'no-store' });
      expect(JSON.parse(body).error).toEqual({
        type: 'NOT_FOUND',
        message: 'No such page.',
        requestId: 'extended-request-id',
      });
    },
  );
});
