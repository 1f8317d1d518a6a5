import { readFlags, UsageError } from '../terminal/program.ts';

/** Where forwarding begins without a saved position: so many milliseconds ago, or with the oldest delivery. */
export type Since = { kind: 'ago'; milliseconds: number } | { kind: 'all' };

/** What `npm run forward` is asked to do. */
export interface ForwardArguments {
  to: URL;
  /** Endpoints to follow; all of the sandbox when empty. */
  webhooks: readonly string[];
  baseUrl: string | undefined;
  since: Since;
  state: string | undefined;
  fresh: boolean;
  once: boolean;
}

export const FORWARD_USAGE = `Posts the deliveries of your sandbox to an address of your own, byte for byte, their signatures made anew.
It reads them from the public API with a sandbox key; the service itself contacts nobody.

Usage: npm run forward -- --to URL [<flags>]

  --to URL          where to, http or https: http://localhost:4000/hooks
  --webhook whk_…   follow this endpoint only; may be given again (all endpoints of the sandbox, new ones too)
  --since 10m       where nothing is kept yet, begin with the last 30s, 10m, 2h or 3d, or with all (from now on)
  --once            forward what is there and exit; 1 when something was not accepted
  --fresh           forget where it stopped, and begin as --since says
  --state FILE      where it is kept how far it got (a file in LOCAL_DIR for each API, key and address)
  --base-url URL    of the API (BASE_URL)
  --help            show this

Each delivery is forwarded once, after its first attempt in the sandbox. The same command goes on where it stopped, even after kill -9;
then the one that was under way may come twice. One that your address did not accept is not tried again: send the event again with
POST …/deliveries/{id}/redeliver, or everything with --fresh --since 10m. It uses half of the sandbox's requests in a minute at most.

Environment:
  SANDBOX_API_KEY   a key of the sandbox that may read:webhooks (the local run's)
  BASE_URL          of the API, without /api/v1 (the local run's)
  LOCAL_DIR         the directory of the local run (.local)
`;

const FLAGS = {
  to: { type: 'string' },
  webhook: { type: 'string', multiple: true },
  'base-url': { type: 'string' },
  since: { type: 'string' },
  state: { type: 'string' },
  fresh: { type: 'boolean', default: false },
  once: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const UNIT_MS = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** @throws UsageError naming the flag and its constraint */
export function readForwardArguments(args: readonly string[]): ForwardArguments | 'help' {
  const flags = readFlags(args, FLAGS);
  if (flags.help) return 'help';
  if (flags.to === undefined) throw new UsageError('--to is required: the address to forward to.');
  return {
    to: readUrl('--to', flags.to),
    webhooks: [...new Set((flags.webhook ?? []).flatMap((text) => text.split(',').map(readWebhook)))],
    baseUrl: flags['base-url'] === undefined ? undefined : readBaseUrl('--base-url', flags['base-url']),
    since: flags.since === undefined ? { kind: 'ago', milliseconds: 0 } : readSince(flags.since),
    state: flags.state === undefined ? undefined : readState(flags.state),
    fresh: flags.fresh,
    once: flags.once,
  };
}

/**
 * The address before `/api/v1`, whichever of it was given.
 * @throws UsageError
 */
export function readBaseUrl(name: string, text: string): string {
  const url = readUrl(name, text);
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/api(\/v1)?$/, '')}`;
}

function readUrl(name: string, text: string): URL {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new UsageError(`${name} must be an http or https URL.`);
  }
  return url;
}

function readWebhook(text: string): string {
  if (!/^whk_\w+$/.test(text.trim())) throw new UsageError('--webhook must be the id of an endpoint: whk_….');
  return text.trim();
}

function readSince(text: string): Since {
  if (text === 'all') return { kind: 'all' };
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const milliseconds = UNIT_MS.get(unit);
  if (milliseconds === undefined) {
    throw new UsageError('--since must be a time such as 30s, 10m, 2h or 3d, or all.');
  }
  return { kind: 'ago', milliseconds: Number(amount) * milliseconds };
}

function readState(text: string): string {
  if (text === '') throw new UsageError('--state must be a file.');
  return text;
}
