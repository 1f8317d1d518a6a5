import { commandLine, matching, repeatable, text } from 'terminal/command-line.ts';
import { STAGES } from '../infra/stages.ts';

export type ReleaseCheckArguments = ReturnType<typeof readReleaseCheckArguments>;

/** Exits the process for `--help` and for wrong arguments. */
export function readReleaseCheckArguments(args: readonly string[]) {
  const setting = repeatable(matching(/^\w+=/, 'name=value'));
  const program = commandLine(
    'npm run release-check --',
    'Compares the templates of a commit with those of the working tree, and says what AWS would refuse, and which data would be left or lost, when the working tree is deployed after the commit, and when the commit is deployed again.',
  )
    .argument('[commit]', 'what is deployed now (the last tag)')
    .option('--stage <name>', 'only this stage; may be given again (all)', repeatable(text))
    .option(
      '--context <name=value>',
      'a setting of both, as "cdk deploy -c" takes it; may be given again',
      setting,
    )
    .option('--from-context <name=value>', 'a setting of the commit alone; empty for none', setting)
    .option('--from <directory>', 'a synthesized app (cdk.out) instead of the commit', text)
    .option('--to <directory>', 'a synthesized app instead of the working tree, with --from', text)
    .option('--json', 'print JSON for programs')
    .addHelpText(
      'after',
      '\nExit codes: 0 no error, 1 errors, 2 wrong arguments, 130 interrupted.\nWhat is intended is accepted in lib/release-check/accepted.ts.',
    )
    .parse(args, { from: 'user' });
  const { stage: stages = STAGES, context = [], fromContext = [], ...flags } = program.opts();
  const [commit] = program.args;
  if ((flags.from === undefined) !== (flags.to === undefined))
    program.error('error: --from and --to belong together');
  if (
    flags.from !== undefined &&
    (commit !== undefined || program.opts().stage || context[0] || fromContext[0])
  )
    program.error('error: --from and --to take no commit, stage or context');
  return { ...flags, commit, stages, context: toObject(context), fromContext: toObject(fromContext) };
}

const toObject = (settings: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    settings.map((setting) => [
      setting.slice(0, setting.indexOf('=')),
      setting.slice(setting.indexOf('=') + 1),
    ]),
  );
