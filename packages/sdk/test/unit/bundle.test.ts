import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const KIB = 1024;

const bundleOf = async (code: string): Promise<Uint8Array> => {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: join(import.meta.dirname, '../../src'), loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
};

describe('what a browser or an edge function loads', () => {
  it.each([
    ['the verifier', "export { verify } from './receiver/index.ts';", 8],
    ['the widget', "export { createWidget } from './widget.ts';", 8],
  ])('is at most so many KiB compressed, and needs nothing of Node: %s', async (_, code, limit) => {
    expect(gzipSync(await bundleOf(code)).length / KIB).toBeLessThan(limit);
  });
});
