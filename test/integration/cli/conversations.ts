import { PassThrough } from 'node:stream';
import { awaitAssertion } from 'aws-local/test/until.ts';
import { onTestFinished } from 'vitest';
import { createProgram } from '../../../packages/cli/src/program.ts';
import { type FakeOrganization, startFakeOrganization } from './fake-organization.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** A command that runs in this process, which costs a tenth of a process of its own. */
export interface Running {
  stdin: PassThrough;
  output(): string;
  errors(): string;
  /** Lines of JSON on stdout. */
  lines(): unknown[];
  /** Waits until the output or the errors match. */
  shows(pattern: RegExp): Promise<RegExpMatchArray>;
  /** As Ctrl-C does. */
  stop(): void;
  /** The exit code. */
  ended: Promise<number>;
}

interface Place {
  /** As `process.env`. */
  variables: Readonly<Record<string, string>>;
  cwd: string;
  isTerminal?: boolean;
}

/** Starts a command of `conversations`, and stops it at the end of the test if necessary. */
export function startCommand(
  args: readonly string[],
  { variables, cwd, isTerminal = false }: Place,
): Running {
  const stopped = new AbortController();
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const printed = { output: '', errors: '' };
  stdout.on('data', (chunk) => {
    printed.output += chunk;
  });
  stderr.on('data', (chunk) => {
    printed.errors += chunk;
  });
  const { program, exitCode } = createProgram({
    variables,
    cwd,
    stdin: Object.assign(stdin, { isTTY: isTerminal }),
    stdout,
    stderr,
    signal: stopped.signal,
  });
  const ended = program.parseAsync(args, { from: 'user' }).then(exitCode);
  onTestFinished(async () => {
    stopped.abort();
    await ended;
  });
  return {
    stdin,
    output: () => printed.output,
    errors: () => printed.errors,
    lines: () =>
      printed.output
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    shows: (pattern) =>
      awaitAssertion(() => {
        const match = pattern.exec(printed.output) ?? pattern.exec(printed.errors);
        if (match === null) throw new Error(`not shown: ${pattern}\n${printed.output}\n${printed.errors}`);
        return match;
      }),
    stop: () => stopped.abort(),
    ended,
  };
}

/** A directory without a local run, a configuration directory, and a fake of the API. */
export async function aUser() {
  const directory = await temporaryDirectory();
  const api: FakeOrganization = await startFakeOrganization();
  onTestFinished(() => api.stop());
  const variables: Record<string, string> = {
    XDG_CONFIG_HOME: `${directory}/config`,
    CONVERSATIONS_BASE_URL: api.url,
    CONVERSATIONS_API_KEY: api.key,
  };
  const start = (args: readonly string[], options: Pick<Place, 'isTerminal'> = {}) =>
    startCommand(args, { variables, cwd: directory, ...options });

  /** Runs a command to its end. */
  async function run(...args: string[]) {
    const running = start(args);
    const code = await running.ended;
    return { code, output: running.output(), errors: running.errors(), lines: running.lines };
  }
  return { directory, api, variables, start, run };
}
