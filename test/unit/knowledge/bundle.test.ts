import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import type { extractor } from '../../../functions/knowledge/source-content.ts';
import { readerBuild, TO_A_FUNCTION } from '../../../lib/cloud/bundle.ts';
import { content, rowsOf, workbookFiles, XLSX, zip } from './contents.ts';

it("the extractor works in a function's bundle, where its worker file is next to it", async () => {
  const outdir = mkdtempSync(join(tmpdir(), 'extraction-'));
  onTestFinished(() => rmSync(outdir, { recursive: true, force: true }));
  await Promise.all([
    build({
      ...TO_A_FUNCTION,
      entryPoints: ['functions/knowledge/source-content.ts'],
      outfile: join(outdir, 'index.mjs'),
    }),
    build(readerBuild(outdir)),
  ]);
  const bundled: { extractor: typeof extractor } = await import(
    pathToFileURL(join(outdir, 'index.mjs')).href
  );
  const extract = bundled.extractor({ timeoutMs: 25_000 });

  const article = `<title>T</title><article>${'<p>One sentence, and another one. </p>'.repeat(30)}</article>`;
  expect(await extract('url', content(article, 'text/html'))).toMatchObject({ ok: true, title: 'T' });
  const book = content(zip(workbookFiles({ Sheet1: rowsOf([['a']]) })), XLSX);
  expect(await extract('spreadsheet', book)).toEqual({ ok: true, text: 'a' });
  const feed = '<rss version="2.0"><channel><item><title>One</title></item></channel></rss>';
  expect(await extract('feed', content(feed, 'text/xml'))).toEqual({ ok: true, text: 'One' });
  expect(await extract('spreadsheet', content('a,b', 'text/csv'))).toEqual({ ok: true, text: 'a | b' });
});
