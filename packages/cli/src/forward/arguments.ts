import { listOf, matching, repeatable, text, url } from 'terminal/command-line.ts';
import { parseBaseUrlFlag, subcommand } from '../flags.ts';
import { parseSince } from '../since.ts';

export type ForwardArguments = ReturnType<typeof toForwardArguments>;

/** The command, which exits the process for `--help` and for wrong arguments. */
export const forwardCommand = () =>
  subcommand(
    'forward',
    'Posts the deliveries of your sandbox to your URL, byte for byte, with a new signature.\n' +
      'It reads them from the public API with a sandbox key; the service itself makes no request.',
    [
      'forward --to http://localhost:4000/hooks',
      'forward --to http://localhost:4000/hooks --since 10m --once',
    ],
  )
    .requiredOption(
      '--to <url>',
      'URL to post to, http or https: http://localhost:4000/hooks',
      url('http', 'https'),
    )
    .option(
      '--endpoint <whk_…>',
      'follow this endpoint only; may be given again (all endpoints of the sandbox, new ones too)',
      repeatable(listOf(matching(/^whk_\w+$/, 'ids of endpoints: whk_…'))),
    )
    .option(
      '--since <time>',
      'where to begin without a saved position: the last 30s, 10m, 2h or 3d, or all (from now on)',
      parseSince,
    )
    .option('--once', 'forward what is there and exit; 1 when something was not accepted')
    .option('--fresh', 'forget the saved position, and begin as --since says')
    .option(
      '--state <file>',
      'where the position is saved (a file in LOCAL_DIR for each API, key and URL)',
      text,
    )
    .option(
      '--base-url <url>',
      'URL of the API (CONVERSATIONS_BASE_URL, the local run, the last login)',
      parseBaseUrlFlag,
    )
    .option('--json', 'print JSON, one object per delivery; errors too')
    .addHelpText(
      'after',
      `
Each delivery is forwarded once, after its first attempt in the sandbox. The same command continues where it stopped,
even after kill -9; then the one that was in progress may come twice. A delivery that your URL did not accept is not
retried: resend the event with POST …/deliveries/{id}/redeliver, or everything with --fresh --since 10m. It uses at most
half of the sandbox's requests per minute.

Environment:
  CONVERSATIONS_API_KEY    a key of the sandbox that may read:webhooks (the local run's, or that of login)
  CONVERSATIONS_BASE_URL   of the API, without /api/v1
  LOCAL_DIR                the directory of the local run (.local)`,
    );

type ForwardOptions = ReturnType<ReturnType<typeof forwardCommand>['opts']>;

export const toForwardArguments = ({
  endpoint: webhooks = [],
  since = { kind: 'ago', milliseconds: 0 },
  fresh,
  once,
  to,
  state,
  baseUrl,
}: ForwardOptions) => ({ to, state, baseUrl, webhooks, since, fresh: fresh === true, once: once === true });
