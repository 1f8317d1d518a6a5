import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunctions } from '../../lib/cloud/bundle.ts';

/** Bundles the functions once for all services under test, each of which synthesizes with settings of its own. */
export default async function setup(): Promise<() => void> {
  const directory = mkdtempSync(join(tmpdir(), 'functions-'));
  await bundleFunctions(directory);
  process.env.CDK_BUNDLES = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}
