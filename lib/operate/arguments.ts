import { parseArgs } from 'node:util';
import { COMMANDS, type Command } from './commands.ts';
import { UsageError } from './errors.ts';
import type { Flags } from './flags.ts';

const OPTIONS = {
  local: { type: 'boolean', default: false },
  stage: { type: 'string' },
  outputs: { type: 'string' },
  region: { type: 'string' },
  json: { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
  hurry: { type: 'boolean', default: false },
  overwrite: { type: 'boolean', default: false },
  max: { type: 'string' },
  id: { type: 'string', multiple: true },
  save: { type: 'string' },
  reason: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

export interface OperateArguments {
  command: Command;
  /** What the command's parameters are, in their order. */
  values: readonly string[];
  flags: Flags;
}

const DEFAULT_MAX = 1000;

/** @throws UsageError naming what is wrong */
export function readOperateArguments(args: readonly string[]): OperateArguments | 'help' {
  const { values: flags, positionals } = parsed(args);
  if (flags.help || args.length === 0) return 'help';
  const command = COMMANDS.find(({ name }) => startsWith(positionals, name.split(' ')));
  if (command === undefined) throw new UsageError(`There is no command "${positionals.join(' ')}".`);
  const values = positionals.slice(command.name.split(' ').length);
  if (values.length !== command.parameters.length) throw new UsageError(`Usage: ${usageOf(command)}`);
  if (flags.local && flags.stage !== undefined) throw new UsageError('Either --local or --stage.');
  const { max, id = [], stage, outputs, region, save, reason, help: _, ...switches } = flags;
  return {
    command,
    values,
    flags: {
      ...switches,
      max: readMax(max),
      ids: id,
      ...(stage === undefined ? {} : { stage }),
      ...(outputs === undefined ? {} : { outputs }),
      ...(region === undefined ? {} : { region }),
      ...(save === undefined ? {} : { save }),
      ...(reason === undefined ? {} : { reason }),
    },
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true, allowPositionals: true });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

function readMax(text: string | undefined): number {
  if (text === undefined) return DEFAULT_MAX;
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new UsageError('--max must be a whole number from 1 to 9999999.');
  return Number(text);
}

const startsWith = (words: readonly string[], beginning: readonly string[]): boolean =>
  beginning.every((word, index) => words[index] === word);

const usageOf = ({ name, parameters }: Command): string =>
  [name, ...parameters.map((parameter) => `<${parameter}>`)].join(' ');

/** What the tool can do, for people. */
export function usage(): string {
  const uses = COMMANDS.map((command) => [usageOf(command), command.summary] as const);
  const widest = Math.max(...uses.map(([use]) => use.length));
  return `Looks after a deployment of the Conversation Service, or the local run.

Usage: npm run operate -- <command> (--stage prod | --local) [<flags>]

${uses.map(([use, summary]) => `  ${use.padEnd(widest)}   ${summary}`).join('\n')}

  --stage NAME     the deployment: its stacks are ConversationService-NAME-…
  --region NAME    where it is (AWS_REGION)
  --outputs FILE   outputs of its stacks, as "cdk deploy --outputs-file" or "aws cloudformation describe-stacks" writes them
                   (the AWS command line is asked)
  --local          the local run instead, which must be running
  --yes            do what changes something; without it nothing is changed
  --dry-run        show what would be done
  --max N          messages of a queue to look at or move at most (${DEFAULT_MAX})
  --id ID          only this message; may be given again
  --save FILE      discard: write the messages there first, one JSON line each
  --reason TEXT    host block: why, for other operators
  --check          status: exit with 1 when something needs somebody
  --overwrite      table copy: rows that differ as well, not only those that are missing
  --hurry          keys: do not wait until everybody knows a version, or has forgotten it
  --json           print JSON for programs
  --help           show this

Exit codes: 0 done, 1 failed or not confirmed (or, with --check, something needs somebody), 2 called wrongly.
Bodies of messages and keys are never shown. Runbooks: docs/runbooks/README.md

Environment: AWS credentials as the SDK finds them; LOCAL_DIR, the directory of the local run (.local)
`;
}
