import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Runs the command. */
function run(...parameters: string[]): Promise<{ status: number; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(import.meta.dirname, 'record.ts'), ...parameters],
      (_, output, errors) => resolve({ status: child.exitCode ?? -1, output: output + errors }),
    );
  });
}

describe('node test/compatibility/record.ts', () => {
  it('prints its help with --help and without arguments', async () => {
    const [asked, untold] = await Promise.all([run('--help'), run()]);

    expect(asked.output).toContain('node test/compatibility/record.ts');
    expect(asked.status).toBe(0);
    expect(untold).toEqual({ status: 2, output: asked.output });
  });

  it('reports an unknown commit in one line', async () => {
    const { status, output } = await run('a-name', 'no-such-commit');

    expect(output.trim()).toBe('There is no commit no-such-commit.');
    expect(status).toBe(1);
  });
});
