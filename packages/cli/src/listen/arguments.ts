import { Option } from '@commander-js/extra-typings';
import { among, decimal, listOf, matching, url, wholeNumber } from 'terminal/command-line.ts';
import { SUBSCRIBABLE } from '../event-types.ts';
import { apiCommand, endpointId } from '../flags.ts';
import { parseSince } from '../since.ts';

export type ListenArguments = ReturnType<typeof toListenArguments>;

/** With a secret the URL is already registered, so its port must be fixed. */
const PORT_WITH_SECRET = 4433;
/** The longest wait of a simulated receiver. */
const MAX_DELAY_SECONDS = 60;

/** The command, which exits the process for `--help` and for wrong arguments. */
export const listenCommand = () =>
  apiCommand('listen', 'Receives the events of your sandbox, verifies and shows them. Needs no public URL.', [
    'listen',
    'listen --type conversation.created --status 500,500,200',
    'listen --forward http://localhost:4000/hooks',
  ])
    .addOption(
      new Option('--type <list>', 'subscribe to these event types only, separated by commas (all)')
        .argParser(listOf(among(SUBSCRIBABLE)))
        .conflicts(['secret', 'endpoint']),
    )
    .option('--endpoint <whk_…>', 'register nothing: show the deliveries of this endpoint', endpointId)
    .option(
      '--since <time>',
      'with --endpoint: begin with the last 30s, 10m, 2h or 3d (from now on)',
      parseSince,
    )
    .addOption(
      new Option(
        '--status <list>',
        "answer this status (200); 500,500,200 answers a delivery's first two attempts 500, later ones 200",
      )
        .argParser(listOf(wholeNumber(200, 599)))
        .conflicts('endpoint'),
    )
    .addOption(
      new Option('--delay <seconds>', 'wait so many seconds before each answer')
        .argParser(decimal(0, MAX_DELAY_SECONDS))
        .conflicts('endpoint'),
    )
    .option('--forward <url>', 'post each delivery to this URL, byte for byte', url('http', 'https'))
    .option('--port <n>', 'of the local run: listen on this port (any free one)', wholeNumber(0, 65_535))
    .addOption(
      new Option(
        '--secret <whsec_…>',
        'of the local run: listen for an endpoint that you registered yourself',
      )
        .argParser(matching(/^whsec_[A-Za-z0-9+/]+=*$/, 'whsec_ and base64, as the registration answered it'))
        .conflicts('endpoint'),
    )
    .addHelpText(
      'after',
      `
With a key of a sandbox it registers an endpoint there, whose simulated receiver answers as --status and --delay say,
reads its deliveries from the API, and deletes it at the end. In the local run, without --sandbox, a receiver on this
machine gets the deliveries of the live organization, and answers what --forward answers.`,
    );

type ListenOptions = ReturnType<ReturnType<typeof listenCommand>['opts']>;

export const toListenArguments = ({ type, status, delay = 0, ...given }: ListenOptions) => ({
  ...given,
  /** 0 for any free port. */
  port: given.port ?? (given.secret === undefined ? 0 : PORT_WITH_SECRET),
  /** For the 1st, 2nd, … attempt of each delivery; the last one repeats. */
  statuses: status ?? [200],
  delayMs: delay * 1000,
  events: type ?? SUBSCRIBABLE,
});
