import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleDocumentation, DOCUMENTATION } from '../../lib/infra/bundle.ts';
import { currentDocument } from '../../lib/openapi/current.ts';
import { TELEMETRY } from './reading.ts';
import { ofType, statementsOf, synthesize } from './synthesize.ts';

describe("the documentation's stack", () => {
  const template = synthesize();
  const functions = ofType(template, 'AWS::Lambda::Function').filter(([, fn]) =>
    (DOCUMENTATION as readonly string[]).includes(Object(fn.Properties.Environment).Variables.FUNCTION_NAME),
  );

  it('lets its functions write their logs and nothing else', () => {
    expect(functions).toHaveLength(DOCUMENTATION.length);
    for (const [, fn] of functions) {
      const [role] = Object(fn.Properties.Role)['Fn::GetAtt'];
      const actions = statementsOf(template, fn).flatMap(({ Action }) => Action);
      expect(actions.sort()).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
      expect(
        ofType(template, 'AWS::IAM::Role').find(([id]) => id === role)?.[1].Properties,
      ).not.toHaveProperty('ManagedPolicyArns');
    }
  });

  it('gives its functions no tables, keys or users', () => {
    for (const [, fn] of functions)
      expect(Object.keys(Object(fn.Properties.Environment).Variables).sort()).toEqual(TELEMETRY);
  });

  it('serves the documentation by GET without credentials', () => {
    const resources = new Map(ofType(template, 'AWS::ApiGateway::Resource'));
    const pathOf = (id: string): string => {
      const { ParentId, PathPart } = resources.get(id)?.Properties ?? {};
      const parent: string | undefined = Object(ParentId).Ref;
      return `${parent === undefined ? '' : pathOf(parent)}/${PathPart}`;
    };
    const methods = ofType(template, 'AWS::ApiGateway::Method')
      .map(([, { Properties }]) => ({
        path: pathOf(Object(Properties.ResourceId).Ref),
        method: Properties.HttpMethod,
        authorization: Properties.AuthorizationType,
      }))
      .filter(({ path }) => /^\/docs(\/\{file\})?$/.test(path) || path === '/openapi.json');
    const served = ['/docs', '/docs/{file}', '/openapi.json'].flatMap((path) => [
      { path, method: 'GET', authorization: 'NONE' },
      { path, method: 'ANY', authorization: 'NONE' },
    ]);
    expect(methods).toHaveLength(served.length);
    expect(methods).toEqual(expect.arrayContaining(served));
  });
});

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
