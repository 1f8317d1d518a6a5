import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from 'aws-local/engines/free-port.ts';
import { awaitAssertion } from 'aws-local/test/until.ts';
import { expect, onTestFinished } from 'vitest';

const ROOT = join(import.meta.dirname, '../../../..');

/** Ports that pages let receivers listen on. Free ports replace them. */
const PORTS = /\b(?:4433|4434|4000)\b/g;

/** The shell of a reader of the documentation. */
export interface ReaderShell {
  /**
   * Runs commands in the one shell; they must succeed.
   * @returns their output
   */
  run(commands: string): Promise<string>;
  /** Starts a program that runs until the reader stops it, and waits for its first output. */
  start(command: string, ready: RegExp): Promise<void>;
  save(file: string, text: string): Promise<void>;
  /** The output of the started programs so far. */
  started(): Promise<string>;
}

/** Ends what is left of a process group: nothing, unless a test failed. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Package managers download. */
const INSTALL_MS = 300_000;
const installs = (commands: string): boolean => /\b(?:npm (?:ci|install)|pip install)\b/.test(commands);

/** The machine's proxies and certificate authorities, which package managers need. */
const networkSettings = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => /PROXY|CERT|SSL|_CA_/i.test(name)));

/** Whether the block leaves a receiver behind that listens on this port once it has started. */
const startsReceiver = (commands: string): boolean => /\bPORT=4000\b.* &$/.test(commands.trimEnd());

/** Waits as a reader does, who goes on when the program says that it listens. */
const untilListening = (port: number) =>
  awaitAssertion(async () => {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
    } finally {
      socket.destroy();
    }
  });

const isSource = (path: string): boolean => !/\/(?:node_modules|\.venv|\.next)$/.test(path);

/** Where `pip` finds packages on this machine. */
const pipSettings = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(?:PIP_|SSL_CERT_)/.test(name)));

/**
 * A shell in a directory that has `.local`, where `npm run` starts the programs of this repository.
 * @param withExamples whether the directory has a copy of `examples/`, which the reader installs
 */
export async function aReaderShell(
  localDirectory: string,
  { withExamples = false }: { withExamples?: boolean } = {},
): Promise<ReaderShell> {
  const directory = await mkdtemp(join(tmpdir(), 'reader-'));
  const programs = join(directory, 'programs');
  await mkdir(programs);
  await symlink(localDirectory, join(directory, '.local'));
  for (const name of ['packages', 'artifacts', '.npmrc'])
    await symlink(join(ROOT, name), join(directory, name));
  if (withExamples)
    await cp(join(ROOT, 'examples'), join(directory, 'examples'), { recursive: true, filter: isSource });
  const ports = { '4433': await freePort(), '4434': await freePort(), '4000': await freePort() };
  const onFreePorts = (text: string) =>
    text.replaceAll(PORTS, (port) => `${ports[port as keyof typeof ports]}`);

  // Most of the time of the programs is compilation.
  const { PATH = '', HOME, NODE_COMPILE_CACHE } = process.env;
  const shell = spawn('bash', {
    cwd: directory,
    // A process group of its own, so that the programs that it starts are stopped with it.
    detached: true,
    env: {
      ...(withExamples && networkSettings()),
      PATH: `${dirname(process.execPath)}:${PATH}`,
      HOME,
      LOCAL_DIR: localDirectory,
      NODE_COMPILE_CACHE,
      ...pipSettings(),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let printed = '';
  const take = (chunk: Buffer) => {
    printed += chunk.toString();
  };
  shell.stdout.on('data', take);
  shell.stderr.on('data', take);
  const closed = once(shell, 'close');
  onTestFinished(async () => {
    shell.stdin.end('for job in $(jobs -p); do kill $job; done; wait\n');
    // A hanging command fails the test and would keep the shell open.
    await Promise.race([closed, sleep(10_000, undefined, { ref: false })]);
    if (shell.pid !== undefined) killGroup(shell.pid);
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  // Starting npm or npx would take longer than the program itself.
  shell.stdin.write(`set -o pipefail
npm() { [ "$1" = run ] && [ "$2" != --prefix ] || { command npm "$@"; return; }; local name="$2"; shift 2; [ "\${1-}" != -- ] || shift; $replace node "${ROOT}/bin/$name.ts" "$@"; }
npx() { [ "$1" = conversations ] || { command npx "$@"; return; }; shift; $replace node "${ROOT}/packages/cli/bin/conversations.js" "$@"; }
`);

  let blocks = 0;
  return {
    async run(commands) {
      blocks += 1;
      const end = `end of block ${blocks}:`;
      const before = printed.length;
      shell.stdin.write(`{ ${onFreePorts(commands)}\n} < /dev/null; printf '\\n%s %s\\n' '${end}' $?\n`);
      const waitMs = withExamples || installs(commands) ? INSTALL_MS : undefined;
      const match = await awaitAssertion(() => {
        const match = new RegExp(`^([\\s\\S]*)\\n${end} (\\d+)\\n`).exec(printed.slice(before));
        if (match === null) throw new Error(`has not ended: ${commands}\n${printed.slice(before)}`);
        return match;
      }, waitMs);
      const [, output = '', code] = match;
      expect({ commands, output, code }).toEqual({ commands, output, code: '0' });
      if (startsReceiver(commands)) await untilListening(ports['4000']);
      return output;
    },

    async start(command, ready) {
      blocks += 1;
      const log = join(programs, String(blocks));
      // The program replaces its shell, so that it is the process that is stopped.
      shell.stdin.write(`replace=exec; ${onFreePorts(command)} < /dev/null > '${log}' 2>&1 & replace=\n`);
      await awaitAssertion(async () => expect(await readFile(log, 'utf8')).toMatch(ready));
    },

    save: (file, text) => writeFile(join(directory, file), onFreePorts(text)),

    async started() {
      const files = await readdir(programs);
      return (await Promise.all(files.map((file) => readFile(join(programs, file), 'utf8')))).join('\n');
    },
  };
}
