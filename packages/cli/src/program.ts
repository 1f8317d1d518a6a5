import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { commandLine } from 'terminal/command-line.ts';
import { createScreen } from 'terminal/screen.ts';
import { VERSION } from '../../sdk/src/index.ts';
import { apiRequestCommand, runApi } from './api/command.ts';
import { certifyCommand, runCertify } from './certify/command.ts';
import { completionCommand, runCompletion } from './completion/command.ts';
import type { Context } from './context.ts';
import { conversationsCommand } from './conversations/commands.ts';
import { endpointsCommand } from './endpoints/commands.ts';
import { eventsCommand } from './events/commands.ts';
import { runWhy, whyCommand } from './events/why.ts';
import { listenCommand, toListenArguments } from './listen/arguments.ts';
import { listen } from './listen/listen.ts';
import { loginCommand, logoutCommand, runLogin, runLogout } from './login/command.ts';
import { mcpCommand, runMcp } from './mcp/command.ts';
import { recoverCommand, runRecover } from './recover/command.ts';
import { resendCommand, runResend } from './resend/command.ts';
import { runCommand } from './run.ts';
import { runTrigger, triggerCommand } from './trigger/command.ts';

const EXPLANATIONS = `
Environment:
  CONVERSATIONS_API_KEY    the key, before a stored one
  CONVERSATIONS_BASE_URL   of the API, without /api/v1
  LOCAL_DIR                the directory of the local run (.local), whose key is found there
  NO_COLOR, FORCE_COLOR    colors off, or on without a terminal

Exit codes: 0 done, 1 failed or not confirmed, 2 wrong usage, or certify could not run, 3 no key, or the API refuses it (401, 403),
4 the API does not answer, or cannot now (429, 5xx): try again, 130 interrupted.`;

/** The whole command line. @returns it with the exit code of the command that ran */
export function createProgram(context: Context): { program: CommandUnknownOpts; exitCode: () => number } {
  let code = 0;
  const end = async (ended: Promise<number>): Promise<void> => {
    code = await ended;
  };
  const screenFor = (isJson: boolean | undefined) => createScreen(isJson ? context.stderr : context.stdout);

  const program: CommandUnknownOpts = commandLine(
    'conversations',
    'Receive, follow, explain, resend and trigger the events of the Conversation Service API, and read its conversations.',
  )
    .version(VERSION, '-v, --version', 'show the version')
    .addHelpText('after', EXPLANATIONS)
    .addCommand(
      listenCommand().action((flags) =>
        end(
          runCommand({ json: flags.json, isStream: true }, context, ({ isJson, result }) =>
            listen(toListenArguments(flags), {
              ...context,
              screen: screenFor(isJson),
              ...(isJson && { onResult: (answered) => result(answered, () => '') }),
            }),
          ),
        ),
      ),
    )
    .addCommand(certifyCommand().action((flags) => end(runCertify(flags, context))))
    .addCommand(triggerCommand().action((type, flags) => end(runTrigger(type, flags, context))))
    .addCommand(eventsCommand(context, end))
    .addCommand(conversationsCommand(context, end))
    .addCommand(whyCommand().action((id, endpoint, flags) => end(runWhy({ id, endpoint }, flags, context))))
    .addCommand(endpointsCommand(context, end))
    .addCommand(resendCommand().action((id, flags) => end(runResend(id, flags, context))))
    .addCommand(recoverCommand().action((id, flags) => end(runRecover(id, flags, context))))
    .addCommand(
      apiRequestCommand().action((method, path, body, flags) =>
        end(runApi({ method, path, body }, flags, context)),
      ),
    )
    .addCommand(loginCommand().action((flags) => end(runLogin(flags, context))))
    .addCommand(logoutCommand().action((flags) => end(runLogout(flags, context))))
    .addCommand(mcpCommand().action((flags) => end(runMcp(flags, context))))
    .addCommand(completionCommand().action((shell) => runCompletion(shell, program, context)));
  return { program, exitCode: () => code };
}
