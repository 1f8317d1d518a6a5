import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { describe, expect, it } from 'vitest';
import { INPUTS_FILE, synthesize } from '../../../lib/local-run/start/synthesis.ts';
import { temporaryDirectory } from './temporary-directory.ts';

async function options(settings: Record<string, number>, signal = new AbortController().signal) {
  const directory = await temporaryDirectory();
  const context = { stage: 'dev', settings: { class: 'development' as const, ...settings } };
  return { assembly: join(directory, 'cdk.out'), compileCache: join(directory, 'cache'), context, signal };
}

describe('synthesis', { timeout: 60_000 * PATIENCE }, () => {
  it('writes the assembly, and reuses it while its inputs are the same', async () => {
    const given = await options({ retryBaseSeconds: 0.5 });
    expect(await synthesize(given)).toBe('made');
    expect(await readdir(given.assembly)).toEqual(expect.arrayContaining(['manifest.json', INPUTS_FILE]));
    const written = (await stat(join(given.assembly, 'manifest.json'))).mtimeMs;
    expect(await synthesize(given)).toBe('kept');
    expect((await stat(join(given.assembly, 'manifest.json'))).mtimeMs).toBe(written);

    // A failed synthesis says what the app printed, and leaves nothing that could be taken for an assembly.
    await expect(
      synthesize({ ...given, context: (await options({ retryBaseSeconds: -1 })).context }),
    ).rejects.toThrow(/could not be synthesized:\n\n.*retryBaseSeconds/s);
    expect(await readdir(given.assembly)).not.toContain(INPUTS_FILE);
  });

  it('ends when the user stops the run', async () => {
    const stop = new AbortController();
    const ending = synthesize(await options({}, stop.signal));
    stop.abort();
    await expect(ending).rejects.toHaveProperty('name', 'AbortError');
  });
});
