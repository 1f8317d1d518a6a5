import { Option } from '@commander-js/extra-typings';
import { among, decimal, listOf, matching, url, wholeNumber } from 'terminal/command-line.ts';
import { SUBSCRIBABLE } from '../event-types.ts';
import { subcommand } from '../flags.ts';

export type ListenArguments = ReturnType<typeof toListenArguments>;

/** With a secret the URL is already registered, so its port must be fixed. */
const PORT_WITH_SECRET = 4433;
const MAX_DELAY_SECONDS = 3600;

/** The command, which exits the process for `--help` and for wrong arguments. */
export const listenCommand = () =>
  subcommand(
    'listen',
    'Registers a receiver on this machine at the local run, verifies its deliveries and shows them.',
    [
      'listen',
      'listen --events conversation.created --status 500,500,200',
      'listen --forward http://localhost:4000/hooks',
    ],
  )
    .option('--port <n>', 'listen on this port (any free one; 4433 with --secret)', wholeNumber(0, 65_535))
    .addOption(
      new Option('--events <list>', 'subscribe to these events only, separated by commas (all)')
        .argParser(listOf(among(SUBSCRIBABLE)))
        .conflicts('secret'),
    )
    .addOption(
      new Option(
        '--status <list>',
        "answer this status (200); 500,500,200 answers a delivery's first two attempts 500, later ones 200",
      )
        .argParser(listOf(wholeNumber(200, 599)))
        .conflicts('forward'),
    )
    .option('--delay <seconds>', 'wait so many seconds before each answer', decimal(0, MAX_DELAY_SECONDS))
    .option(
      '--forward <url>',
      'pass each delivery on, byte for byte, and answer the status that comes back',
      url('http', 'https'),
    )
    .option(
      '--secret <whsec_…>',
      'register nothing: listen for an endpoint that you registered yourself',
      matching(/^whsec_[A-Za-z0-9+/]+=*$/, 'whsec_ and base64, as the registration answered it'),
    )
    .option('--json', 'print JSON, one object per answered delivery; errors too')
    .addHelpText('after', '\nEnvironment:\n  LOCAL_DIR   the directory of the local run (.local)');

type ListenOptions = ReturnType<ReturnType<typeof listenCommand>['opts']>;

export const toListenArguments = (given: ListenOptions) => ({
  /** 0 for any free port. */
  port: given.port ?? (given.secret === undefined ? 0 : PORT_WITH_SECRET),
  /** For the 1st, 2nd, … attempt of each delivery; the last one repeats. */
  statuses: given.status ?? [200],
  delayMs: (given.delay ?? 0) * 1000,
  forward: given.forward,
  events: given.events ?? SUBSCRIBABLE,
  /** Of an endpoint registered by hand; by default one is registered while listening. */
  secret: given.secret,
});
