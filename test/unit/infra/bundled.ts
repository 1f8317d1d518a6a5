import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { TO_A_FUNCTION } from '../../../lib/infra/bundle.ts';

/**
 * Bundles a source as functions are, and loads it.
 * @returns its exports, and the text of the bundle
 */
export async function bundled(
  contents: string,
  plugins: Plugin[],
): Promise<{ exported: Record<string, unknown>; text: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'bundled-'));
  try {
    const outfile = join(directory, 'index.mjs');
    await build({
      ...TO_A_FUNCTION,
      stdin: { contents, resolveDir: TO_A_FUNCTION.absWorkingDir, loader: 'ts' },
      outfile,
      plugins,
    });
    const text = readFileSync(outfile, 'utf8');
    return { exported: await import(pathToFileURL(outfile).href), text };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
