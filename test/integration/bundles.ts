import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunctions } from '../../lib/cloud/bundle.ts';
import { bundleDashboard, DASHBOARD_BUNDLE } from '../../lib/cloud/site/bundle.ts';

/**
 * Bundles the functions and the dashboard once for all services under test, each of which synthesizes with settings of its own. Where bundles are there
 * already, of another project of the same run, they are these.
 */
export default async function setup(): Promise<(() => void) | undefined> {
  if (process.env.CDK_BUNDLES !== undefined) return undefined;
  const directory = mkdtempSync(join(tmpdir(), 'functions-'));
  await Promise.all([bundleFunctions(directory), bundleDashboard(join(directory, DASHBOARD_BUNDLE))]);
  process.env.CDK_BUNDLES = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}
