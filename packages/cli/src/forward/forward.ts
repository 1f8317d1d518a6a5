import { resolve } from 'node:path';
import { UserError } from 'terminal/errors.ts';
import { claimDirectory, pathForShell, readDirectory, type Variables } from 'terminal/local-run/directory.ts';
import type { Screen } from 'terminal/screen.ts';
import { authoritiesFor } from '../connection/authorities.ts';
import { readSources } from '../connection/connect.ts';
import { type Connection, chooseConnection } from '../connection/connection.ts';
import { type PassedOn, passOn } from '../pass-on.ts';
import type { Since } from '../since.ts';
import type { ForwardArguments } from './arguments.ts';
import { type FollowOptions, follow } from './follow.ts';
import { type SandboxDelivery, sandboxApi } from './sandbox-api.ts';
import { openStateFile, type State, stateFileIn } from './state-file.ts';
import { renderForwarding, renderPassedOn, renderStart, renderSummary, type Tally } from './view.ts';

export interface ForwardParts {
  variables: Variables;
  cwd: string;
  screen: Screen;
  /** Aborts when the user stops the program. */
  signal: AbortSignal;
  /** Called with each result, for programs. */
  onResult?(result: ForwardResult): void;
}

/** A delivery that was posted: the receiver's status, or why there is none. */
interface ForwardResult {
  deliveryId: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  status: number | null;
  error: string | null;
}

/**
 * Forwards a sandbox's deliveries to the user's URL until stopped, or once.
 * @throws UserError when the API is unusable, or once and a delivery was not accepted
 */
export async function forward(args: ForwardArguments, parts: ForwardParts): Promise<void> {
  const { screen, signal, cwd } = parts;
  const local = readDirectory(parts.variables, cwd);
  const sources = await readSources(parts);
  const environment = sources.local;
  const connection = chooseConnection({ baseUrl: args.baseUrl, sandbox: true }, sources);
  const stateFile = await openState(args, connection, local, cwd);
  const shown = pathForShell(stateFile, cwd);
  const tally: Tally = { accepted: 0, failed: 0 };

  await using started = new AsyncDisposableStack();
  const file = started.adopt(await openStateFile(stateFile, shown, args.fresh), (it) => it.release());
  const ca = await authoritiesFor(args.to, environment);
  const api = sandboxApi(connection, {
    signal,
    patient: !args.once,
    onTrouble: (text) => screen.print(`  ${screen.paint('yellow', text)}`),
    onRecovery: () => screen.print(`  ${screen.paint('green', 'The API answers again.')}`),
    now: () => performance.now(),
  });
  const from = fromWhere(file.state, args.since);
  try {
    const waiting = await follow({
      api,
      webhooks: args.webhooks,
      since: args.since,
      once: args.once,
      state: file.state,
      save: file.save,
      forward: (delivery) =>
        forwardOne(delivery, args.to, { ca, tally, screen, signal, onResult: parts.onResult }),
      onEndpoints: (change) => screen.print(describeChange(change, { args, connection, from, screen })),
      signal,
      now: () => performance.now(),
    });
    if (waiting.length > 0) {
      screen.print(`\n  Not attempted yet, and left for the next time: deliveries of ${waiting.join(', ')}.`);
    }
  } finally {
    screen.print(renderSummary(tally, shown, screen.paint));
  }
  if (tally.failed > 0) {
    throw new UserError(`${tally.failed} of ${tally.accepted + tally.failed} were not accepted.`);
  }
}

async function openState(
  args: ForwardArguments,
  connection: Connection,
  local: { directory: string; directoryShown: string },
  cwd: string,
): Promise<string> {
  if (args.state !== undefined) return resolve(cwd, args.state);
  await claimDirectory(local.directory, local.directoryShown);
  return stateFileIn(local.directory, { ...connection, to: args.to });
}

async function forwardOne(
  delivery: SandboxDelivery,
  to: URL,
  parts: Pick<ForwardParts, 'screen' | 'signal' | 'onResult'> & { ca: string[] | undefined; tally: Tally },
): Promise<void> {
  const { ca, tally, screen, signal, onResult } = parts;
  if (delivery.request === undefined) throw new Error(`${delivery.id} has no request.`);
  const { headers, body } = delivery.request;
  const startedAt = new Date();
  screen.print(`\n${renderForwarding(delivery, to, startedAt, screen.paint)}`);
  const result = await passOn({ headers, body: Buffer.from(body) }, to, { ca, signal });
  // Aborted, not answered: it is the first to be forwarded next time.
  if (result.kind === 'failed') signal.throwIfAborted();
  const isAccepted = result.kind === 'answered' && result.status >= 200 && result.status < 300;
  tally[isAccepted ? 'accepted' : 'failed'] += 1;
  onResult?.(resultOf(delivery, result));
  screen.print(renderPassedOn(delivery, result, { startedAt, endedAt: new Date() }, screen.paint));
}

const resultOf = (
  { id, webhookId, eventId, eventType }: SandboxDelivery,
  passed: PassedOn,
): ForwardResult => ({
  deliveryId: id,
  webhookId,
  eventId,
  eventType,
  status: passed.kind === 'answered' ? passed.status : null,
  error: passed.kind === 'answered' ? null : passed.reason,
});

function describeChange(
  { kind, ids }: Parameters<FollowOptions['onEndpoints']>[0],
  place: { args: ForwardArguments; connection: Connection; from: string; screen: Screen },
): string {
  const { args, connection, from, screen } = place;
  if (kind === 'added') return `  ${screen.paint('dim', `Follows ${ids.join(', ')} too.`)}`;
  if (kind === 'gone') return `  ${screen.paint('dim', `Deleted meanwhile: ${ids.join(', ')}.`)}`;
  const start = renderStart(args, { baseUrl: connection.baseUrl, endpoints: ids, from }, screen.paint);
  return args.once
    ? start
    : `${start}\n  ${screen.paint('dim', 'Ctrl-C stops; the same command goes on from there.')}`;
}

function fromWhere({ positions }: State, since: Since): string {
  if (positions.size > 0) return 'from where it stopped';
  if (since.kind === 'all') return 'from the oldest delivery on';
  return since.milliseconds === 0 ? 'from now on' : `from the last ${since.milliseconds / 1000} s on`;
}
