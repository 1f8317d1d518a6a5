import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalRunError } from '../errors.ts';
import { freePort } from './free-port.ts';
import { endProcess, runningProcess } from './processes.ts';

const WITHOUT_ENGINE =
  'set DYNOXIDE_BIN to the program that "cargo install dynoxide-rs@3.2.0 --locked" builds (~/.cargo/bin/dynoxide), or DYNAMODB_ENDPOINT to http://localhost:8000 after "docker run -p 127.0.0.1:8000:8000 amazon/dynamodb-local -jar DynamoDBLocal.jar -inMemory -sharedDb"';

/**
 * Path of the embedded DynamoDB: `DYNOXIDE_BIN`, or the npm package of this platform.
 * @param platform such as `linux-x64`, the only one with a package
 * @throws LocalRunError when there is none
 */
export function dynoxideBinary(
  environment: NodeJS.ProcessEnv = process.env,
  platform = `${process.platform}-${process.arch}`,
): string {
  const given = environment.DYNOXIDE_BIN;
  if (given) {
    if (existsSync(given)) return given;
    throw new LocalRunError(`There is no program ${given}, which DYNOXIDE_BIN names: ${WITHOUT_ENGINE}`);
  }
  try {
    return createRequire(import.meta.url).resolve(`@dynoxide/${platform}/dynoxide`);
  } catch (cause) {
    throw new LocalRunError(`No DynamoDB is installed for ${platform}: ${WITHOUT_ENGINE}`, { cause });
  }
}

interface Launched {
  child: ChildProcess;
  port: number;
}

/**
 * Child process on one database file that restarts on the same port when it dies. A PID file beside the
 * database lets the next start find an engine whose parent was killed.
 */
export class DynoxideProcess {
  readonly #binary: string;
  readonly #database: string;
  #launched: Launched;
  #stopping = false;
  #comingBack: Promise<void> = Promise.resolve();

  private constructor(binary: string, database: string, launched: Launched) {
    this.#binary = binary;
    this.#database = database;
    this.#launched = launched;
    this.#watch(launched);
  }

  /** @throws LocalRunError when another run holds the database, or the program does not start */
  static async start(binary: string, database: string): Promise<DynoxideProcess> {
    await endStaleEngine(database);
    return new DynoxideProcess(binary, database, await launch(binary, database));
  }

  get port(): number {
    return this.#launched.port;
  }

  get pid(): number | undefined {
    return this.#launched.child.pid;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#comingBack;
    const { child } = this.#launched;
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const patience = setTimeout(() => child.kill('SIGKILL'), 1_000);
      await exited;
      clearTimeout(patience);
    }
    rmSync(pidFile(this.#database), { force: true });
  }

  #watch({ child, port }: Launched): void {
    child.once('exit', () => {
      if (!this.#stopping) this.#comingBack = this.#relaunch(port);
    });
  }

  async #relaunch(port: number): Promise<void> {
    while (!this.#stopping) {
      const result = await attempt(this.#binary, this.#database, port);
      if (typeof result === 'string') {
        await sleep(100);
        continue;
      }
      this.#launched = { child: result, port };
      this.#watch(this.#launched);
      return;
    }
  }
}

/** Tries another free port when some process takes the first one. */
async function launch(binary: string, database: string): Promise<Launched> {
  let output = '';
  for (let tries = 0; tries < 5; tries += 1) {
    const port = await freePort();
    const result = await attempt(binary, database, port);
    if (typeof result !== 'string') return { child: result, port };
    output = result;
    if (!output.includes('already in use')) break;
  }
  throw new LocalRunError(`The embedded DynamoDB (${binary}) did not start: ${output.trim()}`);
}

/** @returns the child once it listens, or its output when it ended */
async function attempt(binary: string, database: string, port: number): Promise<ChildProcess | string> {
  const child = spawn(binary, ['serve', '--port', String(port), '--db-path', database], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // Own process group: Ctrl-C reaches the whole group, and the engine must outlive the functions.
    detached: true,
  });
  if (child.pid !== undefined)
    writeFileSync(pidFile(database), JSON.stringify({ pid: child.pid, parent: process.pid }));
  return await new Promise((resolve) => {
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output = `${output}${text}`.slice(-2_000);
      if (output.includes('listening on')) resolve(child);
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', () => resolve(output));
  });
}

const pidFile = (database: string) => `${database}.pid`;

/**
 * Ends the engine of a killed run: two engines on one file would number stream records twice.
 * @throws LocalRunError when the engine belongs to a live run
 */
async function endStaleEngine(database: string): Promise<void> {
  const recorded = readPidFile(pidFile(database));
  if (!recorded) return;
  const { pid, parent } = recorded;
  // Process ids are reused: only a process that serves this file is the engine.
  const engine = () => {
    const running = runningProcess(pid);
    return running?.command.endsWith(`--db-path ${database}`) ? running : undefined;
  };
  if (engine()?.parent === parent) {
    throw new LocalRunError(`Another local run (process ${parent}) uses ${database}: stop it first`);
  }
  if (engine()) await endProcess(pid, () => engine() !== undefined);
  rmSync(pidFile(database), { force: true });
}

function readPidFile(file: string): { pid: number; parent: number } | undefined {
  if (!existsSync(file)) return undefined;
  const [pid, parent] = (readFileSync(file, 'utf8').match(/\d+/g) ?? []).map(Number);
  return pid !== undefined && parent !== undefined ? { pid, parent } : undefined;
}
