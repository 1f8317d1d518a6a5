import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from 'aws-local/engines/free-port.ts';
import { awaitAssertion } from 'aws-local/test/until.ts';
import { isInstalled, runProgram } from '../../../engines/program.ts';
import type { Receiver } from './contract.ts';

const ROOT = join(import.meta.dirname, '../../../..');

type Command = readonly [program: string, ...args: string[]];

/** A folder of `examples/`, and how its page installs and starts it. */
export interface Example {
  folder: string;
  runtime: Command;
  install: readonly Command[];
  start: Command;
}

const NPM_INSTALL: Command = ['npm', 'install', '--no-audit', '--no-fund'];

export const EXAMPLES: readonly Example[] = [
  {
    folder: 'nextjs',
    runtime: ['node', '--version'],
    install: [NPM_INSTALL, ['npm', 'run', 'types'], ['npm', 'run', 'build']],
    start: ['npm', 'start'],
  },
  {
    folder: 'express',
    runtime: ['node', '--version'],
    install: [NPM_INSTALL, ['npm', 'run', 'types']],
    start: ['node', 'server.ts'],
  },
  {
    folder: 'fastapi',
    runtime: ['python3', '--version'],
    install: [
      ['python3', '-m', 'venv', '.venv'],
      ['.venv/bin/pip', 'install', '--quiet', '-r', 'requirements.txt'],
    ],
    start: ['.venv/bin/python', 'main.py'],
  },
  {
    folder: 'rails',
    runtime: ['ruby', '--version'],
    install: [['sh', '-c', 'bundle check || bundle install --quiet']],
    start: ['bundle', 'exec', 'puma'],
  },
  {
    folder: 'go',
    runtime: ['go', 'version'],
    install: [
      ['go', 'vet', './...'],
      ['go', 'build', '-o', 'receiver', '.'],
    ],
    start: ['./receiver'],
  },
  {
    folder: 'aws-lambda',
    runtime: ['node', '--version'],
    install: [NPM_INSTALL, ['npm', 'run', 'types'], ['npx', 'cdk', 'synth', '--quiet']],
    start: ['node', 'local.ts'],
  },
];

/** Folders of the examples that this machine cannot run. A notice names each of them. */
export async function findMissing(): Promise<Set<string>> {
  const missing = new Set<string>();
  for (const { folder, runtime } of EXAMPLES) {
    const [program, option] = runtime;
    if (await isInstalled(program, option)) continue;
    missing.add(folder);
    process.stderr.write(`NOT TESTED: examples/${folder}, because ${program} is not installed\n`);
  }
  return missing;
}

/**
 * Copies an example beside `examples/`, where its packages stay between runs, and installs them there.
 * @returns the copy's directory
 */
export async function install({ folder, install: commands }: Example): Promise<string> {
  const directory = join(ROOT, '.examples', folder);
  await mkdir(directory, { recursive: true });
  await cp(join(ROOT, 'examples', folder), directory, { recursive: true });
  for (const [program, ...args] of commands) await run(program, args, directory);
  return directory;
}

/** Builds the package that examples install from this repository. */
export const buildClient = (): Promise<void> =>
  run('npm', ['run', '--silent', '--workspace', 'packages/sdk', 'build'], ROOT);

async function run(program: string, args: readonly string[], cwd: string): Promise<void> {
  const { code, printed } = await runProgram(program, args, { cwd, env: process.env });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${printed}`);
}

/** Starts an installed example on a free port. */
export async function start(
  { start: [program, ...args] }: Example,
  directory: string,
  secrets: readonly string[],
) {
  const port = await freePort();
  const child = startProcess([program, ...args], directory, {
    PORT: String(port),
    WEBHOOK_SECRET: secrets.join(' '),
  });
  const url = `http://127.0.0.1:${port}/webhooks`;
  const receiver: Receiver & { port: number } = {
    url,
    port,
    printed: child.printed,
    stop: child.stop,
  };
  await awaitAssertion(async () => {
    if (child.hasEnded()) throw new Error(`${program} ended: ${child.printed()}`);
    await fetch(url);
  });
  return receiver;
}

/** An example that goes on without a secret is stopped. */
const WITHOUT_SECRET_MS = 60_000;

/** Starts an example without secrets, and returns what it prints until it ends. */
export async function startWithoutSecret({ start: command }: Example, directory: string) {
  const child = startProcess(command, directory, { PORT: String(await freePort()), WEBHOOK_SECRET: '' });
  const timer = setTimeout(child.stop, WITHOUT_SECRET_MS);
  const code = await child.ended;
  clearTimeout(timer);
  return { code, printed: child.printed() };
}

/** In a process group of its own, so that the processes that it starts are stopped with it. */
function startProcess([program, ...args]: Command, cwd: string, env: Record<string, string>) {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, detached: true });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    ended,
    hasEnded,
    printed: () => printed,
    async stop() {
      if (child.pid !== undefined && !hasEnded()) process.kill(-child.pid, 'SIGTERM');
      await ended;
    },
  };
}
