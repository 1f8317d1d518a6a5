import eventTypes from '../../../docs/openapi/event-types.json' with { type: 'json' };
import { readFlags, UsageError } from '../terminal/program.ts';

/** What `npm run listen` is asked to do. */
export interface ListenArguments {
  help: boolean;
  /** 0 takes any free one. */
  port: number;
  /** Of the 1st, 2nd, … attempt of each delivery; the last one repeats. */
  statuses: readonly number[];
  delayMs: number;
  forward: URL | undefined;
  events: readonly string[];
  /** Of an endpoint that was registered by hand; without it one is registered for the time of listening. */
  secret: string | undefined;
}

export const LISTEN_USAGE = `Receives the deliveries of the local run, verifies and shows them.

Usage: npm run listen [-- <flags>]

  --port N          listen on this port (any free one; 4433 with --secret)
  --events a,b      subscribe to these events only (all)
  --status 500      answer this status; 500,500,200 answers a delivery's first two attempts 500, later ones 200
  --delay 3         wait so many seconds before each answer
  --forward URL     pass each delivery on, byte for byte, and answer the status that comes back
  --secret whsec_…  register nothing: listen for an endpoint that you registered yourself
  --help            show this

Environment:
  LOCAL_DIR         the directory of the local run (.local)
`;

/** What an endpoint may subscribe to. */
const SUBSCRIBABLE = Object.entries(eventTypes).flatMap(([type, { sentTo }]) =>
  sentTo === 'subscribers' ? [type] : [],
);

const FLAGS = {
  port: { type: 'string' },
  status: { type: 'string' },
  delay: { type: 'string' },
  forward: { type: 'string' },
  events: { type: 'string' },
  secret: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/** With a secret the URL was registered before anything listens, so that its port has to be known in advance. */
const PORT_WITH_SECRET = 4433;
const MAX_DELAY_SECONDS = 3600;

/** @throws UsageError naming the flag and its constraint */
export function readListenArguments(args: readonly string[]): ListenArguments {
  const flags = readFlags(args, FLAGS);
  if (flags.forward !== undefined && flags.status !== undefined) {
    throw new UsageError('--forward answers what the other side answers: leave out --status.');
  }
  if (flags.secret !== undefined && flags.events !== undefined) {
    throw new UsageError('--secret registers nothing: leave out --events.');
  }
  return {
    help: flags.help,
    port:
      flags.port === undefined ? (flags.secret === undefined ? 0 : PORT_WITH_SECRET) : readPort(flags.port),
    statuses: flags.status === undefined ? [200] : flags.status.split(',').map(readStatus),
    delayMs: flags.delay === undefined ? 0 : readDelay(flags.delay) * 1000,
    forward: flags.forward === undefined ? undefined : readForward(flags.forward),
    events: flags.events === undefined ? SUBSCRIBABLE : flags.events.split(',').map(readEvent),
    secret: flags.secret === undefined ? undefined : readSecret(flags.secret),
  };
}

function readPort(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > 65_535) {
    throw new UsageError('--port must be a whole number from 0 to 65535.');
  }
  return Number(text);
}

function readStatus(text: string): number {
  if (!/^[2-5]\d\d$/.test(text.trim())) {
    throw new UsageError('--status must be one or more statuses from 200 to 599, separated by commas.');
  }
  return Number(text);
}

function readDelay(text: string): number {
  if (!/^\d*\.?\d+$/.test(text) || Number(text) > MAX_DELAY_SECONDS) {
    throw new UsageError(`--delay must be a number of seconds from 0 to ${MAX_DELAY_SECONDS}.`);
  }
  return Number(text);
}

function readForward(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new UsageError('--forward must be an http or https URL.');
  }
  return url;
}

function readEvent(text: string): string {
  const event = SUBSCRIBABLE.find((each) => each === text.trim());
  if (event === undefined) throw new UsageError(`--events must be some of ${SUBSCRIBABLE.join(', ')}.`);
  return event;
}

function readSecret(text: string): string {
  if (!/^whsec_[A-Za-z0-9+/]+=*$/.test(text)) {
    throw new UsageError('--secret must be whsec_ and base64, as the registration answered it.');
  }
  return text;
}
