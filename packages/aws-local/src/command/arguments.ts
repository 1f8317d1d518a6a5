import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';

/** Arguments of `aws-local run`. Paths are absolute. */
export interface RunArguments {
  assembly: string;
  state: string;
  /** 0 for any free port. */
  port: number;
  /** Added to the variables of every function. */
  environment: Record<string, string>;
  /** Prints every log line of functions. */
  verbose: boolean;
}

type RunOptions = Partial<Pick<RunArguments, 'state' | 'port' | 'verbose'>> & {
  env?: RunArguments['environment'];
};

const USAGE_ERROR = 2;
const DEFAULT_PORT = 3000;

/**
 * Parses the arguments of `aws-local`. Exits with 0 for `--help` and with 2 for wrong arguments.
 * @param args without the names of Node.js and the program
 * @param cwd absolute
 */
export function readArguments(args: readonly string[], cwd: string): RunArguments {
  const program = new Command('aws-local')
    .description('Runs a synthesized CDK assembly on this machine.')
    .helpCommand(false)
    .showHelpAfterError('For the options: aws-local run --help')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE_ERROR))
    .configureOutput({ outputError: (text, write) => write(text.replace('\n(', ' (')) });
  const run = program
    .command('run')
    .description('Runs an assembly until it is interrupted (Ctrl-C).')
    .argument('<assembly>', 'directory that `cdk synth` has written, for example cdk.out')
    .option('--port <n>', `port of the API, 0 for any (${DEFAULT_PORT})`, parsePort)
    .option(
      '--state <directory>',
      'where tables, queues and mail are kept across restarts (ASSEMBLY/../.aws-local)',
      parseDirectory,
    )
    .option(
      '--env <name=value>',
      "variable that every function has besides the template's; may be repeated",
      addVariable,
    )
    .option('--verbose', 'show all that functions log, not only what looks like an error')
    .addHelpText(
      'after',
      '\nIt ends with 1 when the assembly has something that it does not know, and says what.',
    )
    .action(() => undefined);
  program.addHelpText('after', () => `\n${run.helpInformation()}`);
  program.parse(args.length === 0 ? ['--help'] : args, { from: 'user' });
  const { state, port = DEFAULT_PORT, env = {}, verbose = false } = run.opts<RunOptions>();
  const assembly = resolve(cwd, run.processedArgs[0]);
  return {
    assembly,
    state: resolve(cwd, state ?? resolve(assembly, '..', '.aws-local')),
    port,
    environment: env,
    verbose,
  };
}

/** commander accepts `--verbose` as the directory of `--state --verbose`. */
function parseDirectory(text: string): string {
  if (text === '' || text.startsWith('--')) throw new InvalidArgumentError('It takes a directory.');
  return text;
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port < 65_536) return port;
  throw new InvalidArgumentError('It takes a number from 0 to 65535.');
}

function addVariable(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('It takes NAME=VALUE.');
  return { ...before, [name]: value };
}
