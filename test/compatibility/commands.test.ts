import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Runs a command of this folder. */
function run(file: string, ...parameters: string[]): Promise<{ status: number; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(import.meta.dirname, file), ...parameters],
      (_, output, errors) => resolve({ status: child.exitCode ?? -1, output: output + errors }),
    );
  });
}

describe.each(['freeze.ts', 'record.ts'])('node test/compatibility/%s', (file) => {
  it('prints its help with --help and without arguments', async () => {
    const [asked, untold] = await Promise.all([run(file, '--help'), run(file)]);

    expect(asked.output).toContain(`node test/compatibility/${file}`);
    expect(asked.status).toBe(0);
    expect(untold).toEqual({ status: 2, output: asked.output });
  });

  it('reports an unknown commit in one line', async () => {
    const parameters = file === 'freeze.ts' ? ['no-such-commit'] : ['a-name', 'no-such-commit'];
    const { status, output } = await run(file, ...parameters);

    expect(output.trim()).toBe('There is no commit no-such-commit.');
    expect(status).toBe(1);
  });
});
