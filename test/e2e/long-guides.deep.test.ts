import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPython, PACKAGE } from '../../packages/sdk-python/bin/toolbox.ts';
import { aService } from '../integration/service/a-service.ts';
import { longGuide } from '../integration/service/local-run/documents.ts';
import { WITHOUT_WAITS } from './dashboard-fixture.ts';

/* Guides that take long; in those of the clients a package that is built and installed receives an event. */

/** Why the package cannot be built or installed here; undefined when it can. */
function findObstacle(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'wheel-'));
  try {
    const pip = ['-m', 'pip', 'wheel', '--quiet', '--wheel-dir', directory, PACKAGE];
    execFileSync(process.execPath, [join(PACKAGE, 'bin/generate.ts')]);
    const { status, stderr } = spawnSync(findPython(), pip, { encoding: 'utf8' });
    return status === 0 ? undefined : `pip cannot build and install it: ${stderr.trim().split('\n').at(-1)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const obstacle = findObstacle();
if (obstacle !== undefined)
  process.stderr.write(
    `\n${'!'.repeat(100)}\n!!! THE GUIDE OF THE PYTHON CLIENT IS NOT TESTED: ${obstacle}.\n${'!'.repeat(100)}\n\n`,
  );

const service = aService(WITHOUT_WAITS);

describe('the guide of the recovery', () => longGuide(service, 'recovery'));
describe('the guide of the TypeScript client', () => longGuide(service, 'typescript-client'));

describe.skipIf(obstacle !== undefined)('the guide of the Python client', () => {
  longGuide(service, 'python-client');

  it('is followed with a package that pip has built', () => {
    expect(obstacle).toBeUndefined();
  });
});
