import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { bundleFunctions } from '../../lib/infra/bundle.ts';
import { bundleDashboard, DASHBOARD_BUNDLE } from '../../lib/infra/site/bundle.ts';
import { fingerprintOf } from '../../lib/local-run/start/assembly-inputs.ts';

const PROJECT = join(import.meta.dirname, '../..');
const CACHE = join(PROJECT, 'node_modules/.cache/test-bundles');
/** In the directory of the bundles: esbuild's description of what each contains. */
export const OUTPUTS_FILE = 'outputs.json';
/** Age after which bundles of other sources are deleted: no test run takes as long. */
const UNUSED_MS = 24 * 60 * 60 * 1000;

/**
 * Bundles the functions and the dashboard once for all tests of the run: services under test synthesize with
 * settings of their own. Later runs of the same sources reuse the bundles and their compiled code.
 */
export default async function setup(): Promise<void> {
  if (process.env.CDK_BUNDLES !== undefined) return;
  const directory = join(CACHE, (await fingerprintOf(PROJECT, {})).slice(0, 16));
  mkdirSync(CACHE, { recursive: true });
  if (!exists(directory)) await bundleTo(directory);
  const now = new Date();
  utimesSync(directory, now, now);
  deleteUnused(now.getTime());
  process.env.CDK_BUNDLES = directory;
  process.env.NODE_COMPILE_CACHE ??= join(directory, 'compile-cache');
}

/** Another run may make the same bundles meanwhile, so a directory appears only when it is complete. */
async function bundleTo(directory: string): Promise<void> {
  const unfinished = mkdtempSync(join(CACHE, 'unfinished-'));
  const outputs = {};
  await Promise.all([
    bundleFunctions(unfinished, (made) => Object.assign(outputs, made)),
    bundleDashboard(join(unfinished, DASHBOARD_BUNDLE)),
  ]);
  writeFileSync(join(unfinished, OUTPUTS_FILE), JSON.stringify(outputs));
  try {
    renameSync(unfinished, directory);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!exists(directory)) throw error;
  }
}

function deleteUnused(now: number): void {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name);
    const usedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - usedAt > UNUSED_MS) rmSync(path, { recursive: true, force: true });
  }
}

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
