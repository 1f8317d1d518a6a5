import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { operateCommand } from '../../../../lib/operate/command.ts';

const ROOT = join(import.meta.dirname, '../../../..');

/** What a program printed, with its exit code. */
export interface Ended {
  code: number;
  output: string;
  errors: string;
}

/**
 * `npm run operate` is a request to the test, which runs it and answers with a script that prints and ends as
 * the command did. Starting Node.js each time would take most of the time.
 */
const PRELUDE = `set -euo pipefail
npm() {
  [ "$1 $2 $3" = 'run operate --' ]
  shift 3
  local ended
  ended="$(printf '%s\\0' "$@" | curl -sS --fail --unix-socket "$OPERATOR" --data-binary @- http://localhost/)"
  eval "$ended"
}
npx() {
  [ "$1" = conversations ]
  shift
  node packages/cli/bin/conversations.js "$@"
}
`;

/**
 * Runs `npm run operate` in this process.
 * @param directory state of a local run
 */
export async function operateHere(directory: string, args: readonly string[]): Promise<Ended> {
  const [output, errors] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(output), text(errors)]);
  const code = await operateCommand(args, {
    variables: { LOCAL_DIR: directory },
    output,
    errors,
    now: () => new Date(),
  });
  output.end();
  errors.end();
  const [outputText, errorText] = await printed;
  return { code, output: outputText, errors: errorText };
}

const quote = (words: string): string => `'${words.replaceAll("'", `'\\''`)}'`;

/**
 * Runs a script of an operator in bash at the root of the repository.
 * @param directory state of a local run
 */
export async function operatorShell(directory: string, script: string): Promise<Ended> {
  await using operator = await serveOperate(directory);
  const child = spawn('bash', ['-c', `${PRELUDE}${script}`], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      LOCAL_DIR: directory,
      OPERATOR: operator.socket,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, output, errors };
}

/** Answers arguments, each ended by NUL, with the script of what the command does. */
async function serveOperate(directory: string) {
  const server = createServer(async (request, response) => {
    const args = (await text(request)).split('\0').slice(0, -1);
    const { code, output, errors } = await operateHere(directory, args);
    response.end(`printf %s ${quote(output)}; printf %s ${quote(errors)} >&2; (exit ${code})`);
  });
  const socket = join(directory, 'operator.sock');
  await once(server.listen(socket), 'listening');
  return {
    socket,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
