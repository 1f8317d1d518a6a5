import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createMemoryDirectory } from 'aws-local/test/memory-directory.ts';
import { type LocalEnvironment, requireEnvironmentFile } from 'terminal/local-run/environment-file.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * A local run as a user starts it: `npm start`'s own command in a process group of its own, on any free port.
 */
export interface LocalRun {
  directory: string;
  environment: Required<LocalEnvironment>;
  /** PEM of the authority that signed the receivers' certificate, and that certificate. */
  tls: { ca: string; cert: string; key: string };
  /** Milliseconds from the start of the command to `Ready`. */
  readyAfterMs: number;
  /** Its output. */
  output(): string;
  /** Process id of the command; it leads the group. */
  pid: number;
  /** As Ctrl-C does. Returns the exit code. */
  interrupt(): Promise<number | null>;
  /** `kill -9` of the whole group. */
  kill(): Promise<void>;
}

/** A state directory that is deleted at the end of the test. */
export async function temporaryDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = createMemoryDirectory('local-run-');
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Less than the timeout of hooks, so that a failed start is reported, and its processes end. */
const START_MS = 110_000;

/** More calls than a test makes in a minute. */
const UNLIMITED = '1000000';

/**
 * @param settings environment variables of the local run; without rate limits it refuses no call for their
 * number, also in the sandbox
 * @throws Error with its output when it ends before it is ready, or is not ready in time
 */
export async function startLocalRun(
  directory: string,
  settings: Record<string, string> = {},
): Promise<LocalRun> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['bin/local.ts'], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      CDK_BUNDLES: process.env.CDK_BUNDLES,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PORT: '0',
      LOCAL_DIR: directory,
      RATE_LIMIT_PER_MINUTE: UNLIMITED,
      SANDBOX_RATE_LIMIT_PER_MINUTE: UNLIMITED,
      ...settings,
    },
  });
  const exited = once(child, 'exit');
  const printed: string[] = [];
  await ready(child, printed);
  const environment = withSessions(await requireEnvironmentFile(join(directory, 'env')));
  const [ca, cert, key] = await Promise.all(
    [environment.CA_FILE, environment.RECEIVER_CERT_FILE, environment.RECEIVER_KEY_FILE].map((file) =>
      readFile(file, 'utf8'),
    ),
  );
  const pid = child.pid ?? 0;
  return {
    directory,
    environment,
    tls: { ca: ca ?? '', cert: cert ?? '', key: key ?? '' },
    readyAfterMs: performance.now() - startedAt,
    output: () => printed.join(''),
    pid,
    async interrupt() {
      child.kill('SIGINT');
      const [code] = await exited;
      return code;
    },
    async kill() {
      if (child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGKILL');
      await exited;
    },
  };
}

function withSessions(environment: LocalEnvironment): Required<LocalEnvironment> {
  const { ADMIN_TOKEN, MEMBER_TOKEN, OIDC_ISSUER, OIDC_CLIENT_ID } = environment;
  const { SANDBOX_API_KEY, SANDBOX_ORG_ID, MAILBOX_URL } = environment;
  if (!ADMIN_TOKEN || !MEMBER_TOKEN || !OIDC_ISSUER || !OIDC_CLIENT_ID)
    throw new Error('the local run has no users with tokens');
  if (!SANDBOX_API_KEY || !SANDBOX_ORG_ID) throw new Error('the local run has no sandbox');
  if (!MAILBOX_URL) throw new Error('the local run has no mailbox');
  const sandbox = { SANDBOX_API_KEY, SANDBOX_ORG_ID };
  return {
    ...environment,
    ADMIN_TOKEN,
    MEMBER_TOKEN,
    OIDC_ISSUER,
    OIDC_CLIENT_ID,
    MAILBOX_URL,
    ...sandbox,
  };
}

function ready(child: ChildProcess, printed: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(() => {
      reject(new Error(`the local run was not ready after ${START_MS} ms:\n${printed.join('')}`));
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, START_MS);
    const take = (chunk: Buffer) => {
      printed.push(chunk.toString());
      if (/^\s*Ready\b/m.test(printed.join(''))) {
        clearTimeout(deadline);
        resolve();
      }
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.once('exit', (code) => {
      clearTimeout(deadline);
      reject(new Error(`the local run ended with ${code}:\n${printed.join('')}`));
    });
  });
}
