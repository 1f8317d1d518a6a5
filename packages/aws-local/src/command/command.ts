import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { styleText } from 'node:util';
import { type Cloud, startCloud } from '../cloud.ts';
import { LocalRunError } from '../errors.ts';
import { type RunArguments, readArguments } from './arguments.ts';

/**
 * Runs `aws-local` until it is interrupted. Exits the process for `--help` and for wrong arguments.
 * @returns the exit code: 0 when interrupted, 1 when it could not start
 */
export async function runCommand(args: readonly string[]): Promise<number> {
  try {
    await run(readArguments(args, process.cwd()));
    return 0;
  } catch (error) {
    if (!(error instanceof LocalRunError)) throw error;
    process.stderr.write(`${styleText('red', '✗')} ${error.message}\n`);
    return 1;
  }
}

async function run({ assembly, state, port, environment, verbose }: RunArguments): Promise<void> {
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await mkdir(state, { recursive: true });
  const cloud = await startCloud({
    assembly,
    directory: state,
    port,
    environment,
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT,
    sqsEndpoint: process.env.SQS_ENDPOINT,
    onLog: ({ source, text }) => {
      if (verbose || LOOKS_WRONG.test(text)) process.stdout.write(`${styleText('dim', source)} ${text}\n`);
    },
  });
  process.stdout.write(`${ready(cloud, state)}\n`);
  try {
    await interrupted;
  } finally {
    await cloud.stop();
  }
}

const LOOKS_WRONG = /\berror\b|\bfailed\b/i;

/** URLs and calls to try, one per line. */
function ready(cloud: Cloud, state: string): string {
  const lines: [name: string, value: string][] = [
    ['API', cloud.url],
    ...(cloud.siteUrl === undefined ? [] : [['Site', cloud.siteUrl] as [string, string]]),
    ['Mail', cloud.mailboxUrl],
    ['State', state],
    ...Object.entries(cloud.endpoints).map(([name, url]): [string, string] => [name, url]),
    ...Object.entries(cloud.outputs),
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  return [
    '',
    styleText(['bold', 'green'], 'Ready'),
    ...lines.map(([name, value]) => `  ${styleText('dim', name.padEnd(width))}  ${value}`),
    '',
  ].join('\n');
}
