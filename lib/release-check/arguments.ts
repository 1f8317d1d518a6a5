import { commandLine, repeatable, text } from 'terminal/command-line.ts';

export type ReleaseCheckArguments = ReturnType<typeof readReleaseCheckArguments>;

/** Exits the process for `--help` and for wrong arguments. */
export function readReleaseCheckArguments(args: readonly string[]) {
  const program = commandLine(
    'npm run release-check --',
    'Compares the templates of a commit with those of the working tree, and says what AWS would refuse, and which data would be left or lost, when the working tree is deployed after the commit, and when the commit is deployed again.',
  )
    .argument('[commit]', 'what is deployed now (the last tag)')
    .option(
      '--stage <name>',
      'only this stage; may be given again (all of lib/stages that the commit has)',
      repeatable(text),
    )
    .option('--from <directory>', 'a synthesized app (cdk.out) instead of the commit', text)
    .option('--to <directory>', 'a synthesized app instead of the working tree, with --from', text)
    .option('--json', 'print JSON for programs')
    .addHelpText(
      'after',
      '\nExit codes: 0 no error, 1 errors, 2 wrong arguments, 130 interrupted.\nWhat is intended is accepted in lib/release-check/accepted.ts.',
    )
    .parse(args, { from: 'user' });
  const { stage: stages, ...flags } = program.opts();
  const [commit] = program.args;
  if ((flags.from === undefined) !== (flags.to === undefined))
    program.error('error: --from and --to belong together');
  if (flags.from !== undefined && (commit !== undefined || stages !== undefined))
    program.error('error: --from and --to take no commit or stage');
  return { ...flags, commit, stages };
}
