import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import * as z from 'zod';
import { endProcess, runningProcess } from '../../src/engines/processes.ts';

const Started = z.object({ dynamodb: z.string(), sqs: z.string(), engineProcess: z.number() });

/** Engines in a process of their own, so that a test can kill the whole run without a shutdown. */
export async function startRun(directory: string) {
  const program = fileURLToPath(new URL('./run-engines.ts', import.meta.url));
  const run = spawn(process.execPath, [program, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => kill(run));
  const [line] = await once(createInterface(run.stdout), 'line');
  const started = Started.parse(JSON.parse(String(line)));

  onTestFinished(async () => {
    const isStillIt = () => runningProcess(started.engineProcess)?.command.includes(directory) ?? false;
    await kill(run);
    if (isStillIt()) await endProcess(started.engineProcess, isStillIt);
  });
  return { ...started, kill: () => kill(run) };
}

async function kill(run: ChildProcess): Promise<void> {
  if (run.exitCode !== null || run.signalCode !== null) return;
  const exited = once(run, 'exit');
  run.kill('SIGKILL');
  await exited;
}
