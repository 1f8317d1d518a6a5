import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { until } from 'aws-local/test/until.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { aTenant, type Tenant } from '../../../support/tenant.ts';
import { rowsOf, workbookFiles, XLSX, zip } from '../../../unit/knowledge/contents.ts';
import { aPlace } from '../place.ts';

const SOURCES = '/api/v1/knowledge/sources';

interface Content {
  kind: 'url' | 'spreadsheet' | 'feed';
  /** `Content-Type` of the response. */
  type: string;
  body: string | Uint8Array;
  /** The text that is imported, or the error. */
  text?: string;
  error?: string;
}

const book = (rows: readonly (readonly string[])[]) => zip(workbookFiles({ Prices: rowsOf(rows) }));

const CONTENTS: Readonly<Record<string, Content>> = {
  'a page': {
    kind: 'url',
    type: 'text/html; charset=utf-8',
    body: '<title>Bakery</title><main><h1>Bread</h1><p>Rye bread costs four euros.</p></main>',
    text: 'Bread\n\nRye bread costs four euros.',
  },
  'a table': { kind: 'spreadsheet', type: 'text/csv', body: 'Rye,4\nSpelt,5\n', text: 'Rye | 4\nSpelt | 5' },
  'a workbook': { kind: 'spreadsheet', type: XLSX, body: book([['Rye', '4']]), text: 'Rye | 4' },
  'an RSS feed': {
    kind: 'feed',
    type: 'application/rss+xml',
    body: '<rss version="2.0"><channel><title>Bakery</title><item><title>New bread</title></item></channel></rss>',
    text: 'New bread',
  },
  'the largest text': {
    kind: 'url',
    type: 'text/plain',
    body: '"'.repeat(1_000_000),
    text: '"'.repeat(1_000_000),
  },
  'too much text': {
    kind: 'url',
    type: 'text/plain',
    body: 'x'.repeat(1_000_001),
    error: 'the text is larger than 1 MB',
  },
};

/* Contents from their server to the text that the API returns. */
const place = aPlace('withoutWaits');
let tenant: Tenant;
let origin: string;
const names = Object.keys(CONTENTS);

beforeAll(async () => {
  const service = place.service();
  tenant = place.keep(await aTenant(service));
  const server = createServer(service.tls, ({ url }, response) => {
    const content = CONTENTS[names[Number(url?.slice(1))] ?? ''];
    response.setHeader('content-type', content?.type ?? '').end(content?.body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  place.keep({ close: () => server.close() });
  origin = `https://localhost:${(server.address() as AddressInfo).port}`;
});

describe('a source whose URL has', () => {
  it.each(Object.entries(CONTENTS))('%s', async (name, { kind, text, error }) => {
    const url = `${origin}/${names.indexOf(name)}`;
    const { status, body } = await tenant.api.post(SOURCES, { kind, url });
    expect(status).toBe(201);
    const path = `${SOURCES}/${body.data?.id}`;
    const source = await until(`the check of ${name}`, async () => {
      const { data } = (await tenant.api.get(path)).body;
      return data !== undefined && data.lastCheckedAt !== null && data;
    });
    const content = await tenant.api.get(`${path}/content`);
    if (error !== undefined) {
      expect(source).toMatchObject({ status: 'failing', lastError: error });
      expect(content.status).toBe(404);
      return;
    }
    expect(source).toMatchObject({ status: 'ok', lastError: null, warnings: [] });
    expect(content.body.data?.text === text, String(content.body.data?.text).slice(0, 200)).toBe(true);
  });
});
