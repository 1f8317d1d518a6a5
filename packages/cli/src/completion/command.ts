import { Argument, type CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Context } from '../context.ts';
import { subcommand } from '../flags.ts';
import { TRIGGERS } from '../trigger/trigger.ts';
import { completionNodes, renderCompletion, SHELLS, type Shell } from './completion.ts';

export const completionCommand = () =>
  subcommand('completion', 'Prints a script that completes commands and options in your shell.', [
    'completion bash >> ~/.bashrc',
    'completion fish > ~/.config/fish/completions/conversations.fish',
  ]).addArgument(new Argument('<shell>').choices(SHELLS));

/** Known values of arguments, by command. */
const VALUES = { trigger: Object.keys(TRIGGERS), completion: SHELLS };

export function runCompletion(shell: Shell, program: CommandUnknownOpts, { stdout }: Context): void {
  stdout.write(renderCompletion(shell, completionNodes(program, VALUES)));
}
