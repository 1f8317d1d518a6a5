import { PassThrough } from 'node:stream';
import { awaitAssertion } from 'aws-local/test/until.ts';
import { onTestFinished } from 'vitest';
import type { Input } from '../../../packages/cli/src/context.ts';
import { createProgram } from '../../../packages/cli/src/program.ts';
import { type FakeOrganization, startFakeOrganization } from './fake-organization.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** A command that runs in this process. */
export interface Running {
  stdin: Input & PassThrough;
  output(): string;
  errors(): string;
  /** Lines of JSON on stdout. */
  lines(): unknown[];
  shows(pattern: RegExp): Promise<void>;
  /** As Ctrl-C does. */
  stop(): void;
  /** The exit code. */
  ended: Promise<number>;
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

  function start(args: readonly string[], { isTerminal = false } = {}): Running {
    const stopped = new AbortController();
    onTestFinished(() => stopped.abort());
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
      cwd: directory,
      stdin: Object.assign(stdin, { isTTY: isTerminal }),
      stdout,
      stderr,
      signal: stopped.signal,
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
          if (!pattern.test(printed.output + printed.errors))
            throw new Error(`not shown: ${pattern}\n${printed.output}\n${printed.errors}`);
        }),
      stop: () => stopped.abort(),
      ended: program.parseAsync(args, { from: 'user' }).then(exitCode),
    };
  }

  /** Runs a command to its end. */
  async function run(...args: string[]) {
    const running = start(args);
    const code = await running.ended;
    return { code, output: running.output(), errors: running.errors(), lines: running.lines };
  }
  return { directory, api, variables, start, run };
}
