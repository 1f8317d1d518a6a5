import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { LocalRunError } from '../errors.ts';

/** What `aws-local run` is asked for. Paths are absolute. */
export interface RunArguments {
  assembly: string;
  /** Where the state is kept. */
  state: string;
  /** Of the API; 0 for any. */
  port: number;
  /** Variables that every function has besides the template's. */
  environment: Record<string, string>;
  /** Shows every line that functions log. */
  verbose: boolean;
}

const DEFAULT_PORT = 3000;

export const HELP = `Runs a synthesized CDK assembly on this machine.

  aws-local run ASSEMBLY [options]

  ASSEMBLY             directory that \`cdk synth\` has written, for example cdk.out

  --port N             port of the API, 0 for any (${DEFAULT_PORT})
  --state DIRECTORY    where tables, queues and mail are kept across restarts (ASSEMBLY/../.aws-local)
  --env NAME=VALUE     variable that every function has besides the template's; may be repeated
  --verbose            show all that functions log, not only what looks like an error
  --help

Stop it with Ctrl-C. It ends with 1 when the assembly has something that it does not know, and says what.
`;

/**
 * @param args without the names of Node.js and of the program
 * @param cwd absolute
 * @throws LocalRunError that says what is wrong with them
 */
export function readArguments(args: readonly string[], cwd: string): RunArguments | 'help' {
  const { values, positionals } = parsed(args);
  if (values.help || args.length === 0) return 'help';
  const [command, assembly, ...others] = positionals;
  if (command !== 'run') throw new LocalRunError(`There is no command ${command}. Try: aws-local --help`);
  if (assembly === undefined || others.length > 0)
    throw new LocalRunError('Name one directory of an assembly: aws-local run cdk.out');
  const directory = resolve(cwd, assembly);
  return {
    assembly: directory,
    state: resolve(cwd, values.state ?? resolve(directory, '..', '.aws-local')),
    port: portOf(values.port),
    environment: Object.fromEntries((values.env ?? []).map(variableOf)),
    verbose: values.verbose,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        port: { type: 'string' },
        state: { type: 'string' },
        env: { type: 'string', multiple: true },
        verbose: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new LocalRunError(`${error instanceof Error ? error.message : error} Try: aws-local --help`);
  }
}

function portOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PORT;
  const port = Number(text);
  if (/^\d+$/.test(text) && port < 65_536) return port;
  throw new LocalRunError(`--port is ${text}; it takes a number from 0 to 65535`);
}

function variableOf(text: string): [string, string] {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new LocalRunError(`--env is ${text}; it takes NAME=VALUE`);
  return [name, value];
}
