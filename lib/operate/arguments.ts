import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { commandLine, repeatable, text, wholeNumber } from 'terminal/command-line.ts';
import { COMMANDS, type Command } from './commands.ts';
import type { Flags } from './flags.ts';

export interface OperateArguments {
  command: Command;
  /** In the order of the command's parameters. */
  values: readonly string[];
  flags: Flags;
}

const DEFAULT_MAX = 1000;

/** Command line with the options that select a deployment or the local run. */
export const placeCommandLine = (script: string, description: string) =>
  commandLine(script, description)
    .addOption(
      new Option('--stage <name>', 'the deployment: its stack is ConversationService-NAME')
        .argParser(text)
        .conflicts('local'),
    )
    .option('--region <name>', 'where it is (AWS_REGION)', text)
    .option(
      '--outputs <file>',
      'outputs of its stack, as "cdk deploy --outputs-file" or "aws cloudformation describe-stacks" writes them (the AWS command line is asked)',
      text,
    )
    .option('--local', 'the local run instead, which must be running')
    .option('--json', 'print JSON for programs');

/** Exits the process for `--help`, without arguments, and for wrong arguments. */
export function readOperateArguments(args: readonly string[]): OperateArguments {
  const program = placeCommandLine(
    'npm run operate --',
    'Operates a deployment of the Conversation Service, or the local run.',
  )
    .usage('<command> (--stage prod | --local) [options]')
    .option('--yes', 'make the change; without it nothing is changed')
    .option('--dry-run', 'show what would change')
    .option(
      '--max <n>',
      `messages of a queue to read or move at most (${DEFAULT_MAX})`,
      wholeNumber(1, 9_999_999),
    )
    .option('--id <id>', 'only this message; may be given again', repeatable(text))
    .option('--save <file>', 'discard: write the messages there first, one JSON line each', text)
    .option('--reason <text>', 'host block: the reason, for other operators', text)
    .option('--check', 'status: exit with 1 when something needs an operator')
    .option('--overwrite', 'table copy: overwrite rows that differ')
    .option('--hurry', 'keys: do not wait until all functions know the version')
    .addHelpText(
      'after',
      `
Exit codes: 0 done, 1 failed or not confirmed (or, with --check, something needs an operator), 2 wrong arguments.
Bodies of messages and keys are never shown. Runbooks: docs/runbooks/README.md

Environment: AWS credentials as the SDK finds them; LOCAL_DIR, the directory of the local run (.local)`,
    );
  program.configureHelp({
    ...program.configureHelp(),
    // Each command with its group, instead of the groups alone.
    visibleCommands: ({ commands }) =>
      commands.flatMap((each) => (each.commands.length === 0 ? [each] : each.commands)),
    subcommandTerm: (command) => {
      const group = command.parent?.parent ? [command.parent.name()] : [];
      return [...group, command.name(), ...command.registeredArguments.map((it) => `<${it.name()}>`)].join(
        ' ',
      );
    },
  });
  const read: Omit<OperateArguments, 'flags'>[] = [];
  for (const command of COMMANDS) {
    const [name = '', ...groups] = command.name.split(' ').reverse();
    const parent = groups.reduce(
      (above, group) => above.commands.find((each) => each.name() === group) ?? above.command(group),
      program as CommandUnknownOpts,
    );
    const child = parent.command(name).description(command.summary);
    for (const parameter of command.parameters) child.argument(`<${parameter}>`);
    child.action((...given) => {
      read.push({ command, values: given.slice(0, command.parameters.length) as string[] });
    });
  }
  program.parse(args.length === 0 ? ['--help'] : args, { from: 'user' });
  const [chosen] = read;
  // Type narrowing only: without a command the program has ended.
  if (chosen === undefined) return program.help({ error: true });
  const { max = DEFAULT_MAX, id: ids = [], ...flags } = program.opts();
  return { ...chosen, flags: { ...flags, max, ids } };
}
