import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunctions } from '../../lib/cloud/bundle.ts';
import { bundleDashboard, DASHBOARD_BUNDLE } from '../../lib/cloud/dashboard-bundle.ts';

/** Bundles the functions and the dashboard once for all services under test, each of which synthesizes with settings of its own. */
export default async function setup(): Promise<() => void> {
  const directory = mkdtempSync(join(tmpdir(), 'functions-'));
  await Promise.all([bundleFunctions(directory), bundleDashboard(join(directory, DASHBOARD_BUNDLE))]);
  process.env.CDK_BUNDLES = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}
