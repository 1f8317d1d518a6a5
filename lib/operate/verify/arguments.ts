import { text, url, wholeNumber } from 'terminal/command-line.ts';
import { placeCommandLine } from '../arguments.ts';

export type VerifyArguments = ReturnType<typeof readVerifyArguments>;

const DEFAULT_WAIT_SECONDS = 20;

/** Exits the process for `--help`, without arguments, and for wrong arguments. */
export function readVerifyArguments(args: readonly string[]) {
  const { wait = DEFAULT_WAIT_SECONDS, ...flags } = placeCommandLine(
    'npm run verify --',
    'Verifies a deployment of the Conversation Service, or the local run, from outside and inside.\n\n' +
      "It makes an organization of its own, calls each kind of route, delivers an event in the organization's sandbox, rings an alarm, and checks its subscriptions, event source mappings, queues and dead letters. It removes what it made, also after a failure or Ctrl-C.",
  )
    .usage('(--stage prod | --local) [options]')
    .option(
      '--token <token>',
      "ID token of a signed-in admin; better in VERIFY_TOKEN, where other users of the machine do not see it. With --local it is the local organization's",
      text,
    )
    .option(
      '--receiver <url>',
      'send a live event to this https URL, which must answer 2xx',
      (given) => url('https')(given) && given,
    )
    .option(
      '--wait <seconds>',
      `how long a delivery, an alarm's notification or a queue may take (${DEFAULT_WAIT_SECONDS})`,
      wholeNumber(1, 999),
    )
    .addHelpText(
      'after',
      `
Exit codes: 0 all passed or skipped, 1 a check failed, 2 wrong arguments, 130 interrupted.

Environment: AWS credentials as the SDK finds them; VERIFY_TOKEN; LOCAL_DIR, the directory of the local run (.local)`,
    )
    .parse(args.length === 0 ? ['--help'] : args, { from: 'user' })
    .opts();
  return { ...flags, waitMs: wait * 1000 };
}
