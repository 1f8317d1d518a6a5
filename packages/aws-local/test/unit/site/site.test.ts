import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { codingFor } from '../../../src/site/site-pages.ts';
import { viewerFunction } from '../../../src/site/viewer-function.ts';
import { aSite, SCRIPT, SITE_RESOURCES } from './site-fixture.ts';

const ALWAYS = {
  'Content-Security-Policy': "default-src 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Strict-Transport-Security': 'max-age=60; includeSubDomains',
  'X-Ours': 'yes',
};
const SCRIPT_PATH = '/assets/app-1.js';

describe('the site of a template', () => {
  it.each(['/', '/index.html', '/signed-in?code=a.b', '/endpoints/whk_1/deliveries', '/apiary', '/api'])(
    'has the one page at %s',
    async (target) => {
      const answer = await aSite().get(target);
      expect(answer?.statusCode).toBe(200);
      expect(String(answer?.body)).toContain('<title>Dashboard</title>');
      expect(answer?.headers).toMatchObject({
        ...ALWAYS,
        'Content-Type': 'text/html',
        'Cache-Control': 'no-cache',
      });
    },
  );

  it.each([
    [SCRIPT_PATH, 'text/javascript', 'immutable'],
    ['/assets/deep/style.css', 'text/css', 'immutable'],
    ['/icon.svg', 'image/svg+xml', 'no-cache'],
    ['/unknown.xyz', 'binary/octet-stream', 'no-cache'],
  ])('has %s as %s, with the caching of its deployment', async (target, type, cacheControl) => {
    const answer = await aSite().get(target);
    expect(answer?.headers).toMatchObject({ ...ALWAYS, 'Content-Type': type, 'Cache-Control': cacheControl });
  });

  it.each([
    '/assets/none.js',
    '/assets/../secret.txt',
    '/assets/%2e%2e/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '//etc/passwd.txt',
    '/assets\\..\\index.html',
    '/__proto__.js',
    '/%00.html',
  ])('does not have %s, and answers as the bucket does', async (target) => {
    const answer = await aSite().get(target);
    expect(answer?.statusCode).toBe(404);
    expect(answer?.headers).toEqual({ ...ALWAYS, 'Content-Type': 'application/xml' });
    expect(String(answer?.body)).toContain('NoSuchKey');
  });

  it.each(['/api/', '/api/v1/webhooks', '/api/docs', '/api/session.json'])(
    'leaves %s to the API',
    async (target) => {
      expect(await aSite().get(target)).toBeUndefined();
    },
  );

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('does not answer %s', async (method) => {
    expect(await aSite().get('/', {}, method)).toBeUndefined();
  });

  it('answers HEAD like GET', async () => {
    const { get } = aSite();
    expect((await get(SCRIPT_PATH, {}, 'HEAD'))?.headers).toEqual((await get(SCRIPT_PATH))?.headers);
  });

  it('redirects requests for an IP address to the host name, which cookies need', async () => {
    const answer = await aSite().get('/deliveries?status=failed&event=a%20b', { Host: '127.0.0.1:3000' });
    expect(answer).toMatchObject({
      statusCode: 307,
      headers: { Location: 'http://localhost:3000/deliveries?status=failed&event=a+b' },
    });
  });

  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('compresses texts of some length with %s', async (coding, decompress) => {
    const answer = await aSite().get(SCRIPT_PATH, { 'Accept-Encoding': coding });
    expect(answer?.headers).toMatchObject({ 'Content-Encoding': coding, Vary: 'Accept-Encoding' });
    expect(decompress(Buffer.from(answer?.body ?? '')).toString()).toBe(SCRIPT);
  });

  it('sends short texts uncompressed', async () => {
    const answer = await aSite().get('/', { 'Accept-Encoding': 'br' });
    expect(answer?.headers).not.toHaveProperty('Content-Encoding');
  });

  it.each(['br', 'identity'])(
    'answers 304 to a client with the same content, compressed or not: %s',
    async (coding) => {
      const { get } = aSite();
      const first = await get(SCRIPT_PATH, { 'Accept-Encoding': coding });
      const etag = String(first?.headers.ETag);
      expect(etag).toMatch(coding === 'br' ? /^W\/"[0-9a-f]{32}"$/ : /^"[0-9a-f]{32}"$/);
      for (const condition of [etag, `"other", ${etag}`, '*']) {
        const again = await get(SCRIPT_PATH, { 'Accept-Encoding': coding, 'If-None-Match': condition });
        expect(again).toMatchObject({ statusCode: 304, body: '', headers: { ...ALWAYS, ETag: etag } });
      }
      expect((await get(SCRIPT_PATH, { 'If-None-Match': '"other"' }))?.statusCode).toBe(200);
    },
  );

  it('ignores the function that copies files in a deployment', () => {
    expect(aSite().template.ofType('AWS::Lambda::Function')).toEqual([]);
  });

  it('refuses a template with two distributions', () => {
    expect(() => aSite({ Second: SITE_RESOURCES.Distribution })).toThrow('one distribution at most');
  });

  it.each([
    [
      'a page in the place of an error',
      { CustomErrorResponses: [{ ErrorCode: 404, ResponsePagePath: '/' }] },
    ],
    ['a size limit', { DefaultCacheBehavior: { TargetOriginId: 'files', SmoothStreaming: true } }],
  ])('refuses %s that it does not support', (_, changes) => {
    const { Type, Properties } = SITE_RESOURCES.Distribution;
    const DistributionConfig = { ...Properties.DistributionConfig, ...changes };
    expect(() => aSite({ Distribution: { Type, Properties: { DistributionConfig } } })).toThrow(
      /does not know the property/,
    );
  });
});

describe('the function of the paths', () => {
  const site = (FunctionCode: string) =>
    aSite({ Paths: { Type: 'AWS::CloudFront::Function', Properties: { FunctionCode } } });

  it('runs without access to this machine', async () => {
    const { get } = site(`function handler(event) {
      const seen = [typeof process, typeof require, typeof globalThis.fetch, typeof setTimeout];
      event.request.uri = seen.every((type) => type === 'undefined') ? '/icon.svg' : '/index.html';
      return event.request;
    }`);
    expect((await get('/'))?.headers['Content-Type']).toBe('image/svg+xml');
  });

  it('cannot escape by a constructor', async () => {
    const { get } = site(
      `function handler(event) { return event.constructor.constructor('return process')(); }`,
    );
    await expect(get('/')).rejects.toThrow(/Code generation from strings disallowed/);
  });

  it('is stopped when it runs too long', () => {
    const map = viewerFunction('function handler() { for (;;); }', 50);
    expect(() => map({ method: 'GET', uri: '/' })).toThrow(/timed out/);
  });

  it('must return the request', async () => {
    await expect(site('function handler() { return { statusCode: 302 }; }').get('/')).rejects.toThrow(
      'functions of CloudFront that return the request',
    );
  });
});

describe('the compression of an answer', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br; q=0.1, gzip', 'br'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['deflate', 'identity'],
    ['BR', 'br'],
  ])('is, for %j, %s', (accepted, coding) => {
    expect(codingFor(accepted)).toBe(coding);
  });
});
