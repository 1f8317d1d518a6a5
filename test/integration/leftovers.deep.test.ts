import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runningProcess } from 'aws-local/engines/processes.ts';
import { until } from 'aws-local/test/until.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';

const ROOT = join(import.meta.dirname, '../..');
const Held = z.object({ directory: z.string(), engine: z.number() });

/** A run of tests that holds an embedded engine and its state, in a process group of its own. */
async function aHeldRun() {
  const file = join(await mkdtemp(join(tmpdir(), 'held-')), 'held.json');
  const child = spawn(
    join(ROOT, 'node_modules/.bin/vitest'),
    ['run', '--config', 'test/support/leftovers/vitest.config.ts'],
    { cwd: ROOT, detached: true, stdio: 'ignore', env: { ...process.env, HELD_FILE: file } },
  );
  const pid = child.pid ?? expect.fail('the tests did not start');
  onTestFinished(() => void child.kill('SIGKILL'));
  const held = await until('the engine', () => existsSync(file) && readFileSync(file, 'utf8'));
  return { ...Held.parse(JSON.parse(held)), pid };
}

describe('tests that a signal ends', () => {
  it.each([
    ['SIGINT', 'the whole group, as Ctrl-C does'],
    ['SIGINT', 'the process'],
    ['SIGTERM', 'the process'],
    ['SIGKILL', 'the process'],
  ] as const)('leave no engine and no state: %s to %s', async (signal, target) => {
    const { directory, engine, pid } = await aHeldRun();
    expect(runningProcess(engine)?.command).toContain(directory);
    process.kill(target === 'the process' ? pid : -pid, signal);
    await until('the engine to end', () => runningProcess(engine) === undefined);
    await until('its directory to be deleted', () => !existsSync(directory));
  });
});
