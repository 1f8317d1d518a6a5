import { resolve } from 'node:path';
import { commandLine, refuse, text, wholeNumber } from 'terminal/command-line.ts';

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

const DEFAULT_PORT = 3000;
const MAX_PORT = 65_535;

/**
 * Parses the arguments of `aws-local`. Exits with 0 for `--help` and with 2 for wrong arguments.
 * @param args without the names of Node.js and the program
 * @param cwd absolute
 */
export function readArguments(args: readonly string[], cwd: string): RunArguments {
  const program = commandLine(
    'aws-local',
    'Runs a synthesized CDK assembly on this machine.',
  ).showHelpAfterError('For the options: aws-local run --help');
  const run = program
    .command('run')
    .description('Runs an assembly until it is interrupted (Ctrl-C).')
    .argument('<assembly>', 'directory that `cdk synth` has written, for example cdk.out')
    .option('--port <n>', `port of the API, 0 for any (${DEFAULT_PORT})`, wholeNumber(0, MAX_PORT))
    .option(
      '--state <directory>',
      'where tables, queues and mail are kept across restarts (ASSEMBLY/../.aws-local)',
      text,
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
  const { state, port = DEFAULT_PORT, env = {}, verbose = false } = run.opts();
  const assembly = resolve(cwd, run.processedArgs[0]);
  return {
    assembly,
    state: resolve(cwd, state ?? resolve(assembly, '..', '.aws-local')),
    port,
    environment: env,
    verbose,
  };
}

function addVariable(given: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(given) ?? [];
  if (name === undefined || value === undefined) return refuse('NAME=VALUE');
  return { ...before, [name]: value };
}
