import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

const DASHBOARD = join(import.meta.dirname, '../../../dashboard');
const VITE = join(import.meta.dirname, '../../../node_modules/vite/bin/vite.js');

/** Directory of the dashboard beside the functions' bundles. */
export const DASHBOARD_BUNDLE = 'dashboard';

/**
 * Builds the dashboard with its own configuration, in another process while the CDK loads.
 * @param directory absolute, recreated
 * @returns the directory
 * @throws Error with the build's output when it fails
 */
export async function bundleDashboard(directory: string): Promise<string> {
  rmSync(directory, { recursive: true, force: true });
  const build = spawn(
    process.execPath,
    [VITE, 'build', DASHBOARD, '--outDir', directory, '--logLevel', 'error'],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NODE_ENV: 'production', NO_COLOR: '1' } },
  );
  const output: Buffer[] = [];
  build.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  build.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  build.on('error', reject);
  build.on('close', resolve);
  if ((await promise) !== 0)
    throw new Error(`the dashboard could not be built:\n${Buffer.concat(output).toString('utf8')}`);
  return directory;
}
