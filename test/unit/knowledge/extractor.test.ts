import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { extractor } from '../../../functions/knowledge/source-content.ts';
import { content, rowsOf, workbookFiles, XLSX, zip } from './contents.ts';

/** Far more than the tests need, even on a busy machine. */
const patient = { timeoutMs: 25_000 };

describe('extractor', () => {
  it('reads a page, a feed and a spreadsheet at the same time', async () => {
    const extract = extractor(patient);
    const page = content('<title>T</title><p>Hällo', 'text/html');
    const feed = content(
      '<rss version="2.0"><channel><item><title>One</title></item></channel></rss>',
      'text/xml',
    );
    const book = content(zip(workbookFiles({ Sheet1: rowsOf([['a', 'b']]) })), XLSX);
    const image = content(Uint8Array.of(0x89, 0x50), 'image/png');
    expect(
      await Promise.all([
        extract('url', page),
        extract('feed', feed),
        extract('spreadsheet', book),
        extract('url', image),
      ]),
    ).toMatchObject([
      { ok: true, text: 'Hällo', title: 'T' },
      { ok: true, text: 'One' },
      { ok: true, text: 'a | b' },
      { ok: false, problem: 'the content is of type image/png, not a page' },
    ]);
    // The caller can still use the content.
    expect(page.body.byteLength).toBeGreaterThan(0);
  });

  it('stops content that takes too long, and reads the next', async () => {
    const extract = extractor({ timeoutMs: 1 });
    const endless = content('<p>word '.repeat(100_000), 'text/html');
    expect(await extract('url', endless)).toEqual({
      ok: false,
      problem: 'the content takes too long to read',
    });
    expect(await extractor(patient)('url', content('next', 'text/plain'))).toMatchObject({ text: 'next' });
  });

  it('survives content that fills its memory, and reads the next', async () => {
    const extract = extractor({ ...patient, memoryMiB: 32 });
    const bombs = [
      content('&amp; '.repeat(800_000), 'text/html'),
      content('<b></b>'.repeat(190_000), 'text/html'),
    ];
    for (const extraction of await Promise.all(bombs.map((bomb) => extract('url', bomb))))
      expect(extraction).toEqual({ ok: false, problem: 'the content takes too much memory to read' });
    expect(await extract('url', content('next', 'text/plain'))).toMatchObject({ text: 'next' });
  });

  it('fetches no URL in a content', async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      response.end('fetched');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await new Promise((listening) => server.once('listening', listening));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;

    const page = `<html><head><base href="${url}"><link rel=stylesheet href="${url}"><script src="${url}"></script></head><body><img src="${url}"><iframe src="${url}"></iframe><object data="${url}"></object>text</body></html>`;
    const entity = `<!DOCTYPE rss [<!ENTITY e SYSTEM "${url}">]><rss version="2.0"><channel><item><title>&e;</title></item></channel></rss>`;
    const style = `<?xml-stylesheet href="${url}"?><rss version="2.0"><channel><item><title>text</title></item></channel></rss>`;
    const extract = extractor(patient);
    expect(await extract('url', content(page, 'text/html'))).toMatchObject({ ok: true, text: 'text' });
    expect(await extract('feed', content(entity, 'text/xml'))).toMatchObject({ ok: false });
    expect(await extract('feed', content(style, 'text/xml'))).toEqual({ ok: true, text: 'text' });
    expect(requests).toBe(0);
  });
});
