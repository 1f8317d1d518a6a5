import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { environmentFileIn, readDirectory, type Variables } from 'terminal/local-run/directory.ts';
import { requireEnvironmentFile } from 'terminal/local-run/environment-file.ts';
import type { Screen } from 'terminal/screen.ts';
import { untilAborted } from 'terminal/stop-request.ts';
import { type Client, createClient, ServiceError } from '../../../sdk/src/index.ts';
import { renderAnswer, renderDelivery } from '../delivery-view.ts';
import { SUBSCRIBABLE } from '../event-types.ts';
import { passOn } from '../pass-on.ts';
import { type Answer, type ReceivedDelivery, startReceiver } from '../receiver/receiver.ts';
import type { Verification } from '../receiver/signature.ts';
import { reportedError } from '../report.ts';
import type { ListenArguments } from './arguments.ts';
import { DeliveryHistory } from './delivery-history.ts';

const PATH = '/listen';

export interface ListenParts {
  variables: Variables;
  cwd: string;
  screen: Screen;
  /** Aborts when the user stops the program. */
  signal: AbortSignal;
  /** Called with each answered delivery, for programs. */
  onResult?(result: ListenResult): void;
}

/** An answered delivery; without a status the sender disconnected first. */
interface ListenResult {
  receivedAt: string;
  eventId: string;
  deliveryId: string | null;
  attempt: number | null;
  isDuplicate: boolean;
  verification: Verification;
  status: number | null;
  /** The exact text. */
  body: string;
}

/**
 * Receives, verifies, shows and answers deliveries until stopped.
 * @throws UserError when the local run was not started or does not respond, or the port is taken
 */
export async function listen(args: ListenArguments, parts: ListenParts): Promise<void> {
  const { screen, signal } = parts;
  const { directory } = readDirectory(parts.variables, parts.cwd);
  const environment = await requireEnvironmentFile(environmentFileIn(directory));
  const history = new DeliveryHistory();
  const secret = Promise.withResolvers<string>();
  const deliveries = new Set<string>();
  let attempts = 0;

  await using started = new AsyncDisposableStack();
  const receiver = started.adopt(
    await startReceiver({
      cert: await readFile(environment.RECEIVER_CERT_FILE, 'utf8'),
      key: await readFile(environment.RECEIVER_KEY_FILE, 'utf8'),
      port: args.port,
      secret: args.secret ?? secret.promise,
      onDelivery: (delivery) => {
        const id = delivery.headers['webhook-delivery-id'];
        if (id !== undefined) {
          deliveries.add(id);
          attempts += 1;
        }
        screen.print(`\n${renderDelivery(delivery, history.isDuplicate(readId(delivery)), screen.paint)}`);
      },
      respond: (delivery) => answer(delivery, args, history, parts),
      onAnswered: (delivery, answered) => {
        parts.onResult?.(resultOf(delivery, answered, history));
        if (answered !== undefined) history.answered(readId(delivery), answered.status);
        screen.print(renderAnswer(delivery, answered, new Date(), screen.paint));
      },
    }),
    (running) => running.stop(),
  );
  const url = `${receiver.url}${PATH}`;
  if (args.secret === undefined) {
    const client = createClient({
      baseUrl: environment.BASE_URL,
      apiKey: environment.API_KEY,
      // The local run is on this machine: it answers, or does not run.
      maxRetries: 0,
    });
    const endpoint = started.adopt(
      await client.endpoints.register({ url, events: args.events }),
      (registered) => remove(registered.id, client, screen),
    );
    secret.resolve(endpoint.secret);
    const events = args.events.length === SUBSCRIBABLE.length ? 'all event types' : args.events.join(', ');
    screen.print(`\n  ${screen.paint('green', 'Listening')} as ${endpoint.id} for ${events}`);
  } else {
    screen.print(
      `\n  ${screen.paint('green', 'Listening')} at ${screen.paint('bold', receiver.url)}, any path`,
    );
  }
  screen.print(`  ${screen.paint('dim', 'Ctrl-C stops.')}`);
  await untilAborted(signal);
  screen.print(`\n  ${renderSummary(deliveries.size, attempts)}`);
}

function resultOf(
  delivery: ReceivedDelivery,
  answered: Answer | undefined,
  history: DeliveryHistory,
): ListenResult {
  const { receivedAt, headers, verification, body } = delivery;
  const attempt = Number(headers['webhook-attempt']);
  return {
    receivedAt: receivedAt.toISOString(),
    eventId: readId(delivery),
    deliveryId: headers['webhook-delivery-id'] ?? null,
    attempt: Number.isInteger(attempt) ? attempt : null,
    isDuplicate: history.isDuplicate(readId(delivery)),
    verification,
    status: answered?.status ?? null,
    body: body.toString('utf8'),
  };
}

/** The last line. A delivery has several attempts where it was not accepted at first. */
export function renderSummary(deliveries: number, attempts: number): string {
  if (deliveries === 0) return 'Received no deliveries.';
  const received = deliveries === 1 ? 'one delivery' : `${deliveries} deliveries`;
  return `Received ${received}${attempts === deliveries ? '' : ` in ${attempts} attempts`}.`;
}

/** Ignores failures: the service may have stopped first. */
async function remove(endpointId: string, client: Client, screen: Screen): Promise<void> {
  try {
    await client.endpoints.delete(endpointId);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    screen.print(`  ${endpointId} stays registered. ${reportedError(error).message}`);
  }
}

async function answer(
  delivery: ReceivedDelivery,
  args: ListenArguments,
  history: DeliveryHistory,
  { screen, signal }: ListenParts,
): Promise<Answer> {
  // An aborted wait answers at once, because the receiver is stopping.
  if (args.delayMs > 0) await sleep(args.delayMs, undefined, { signal }).catch(() => undefined);
  if (args.forward === undefined)
    return { status: statusFor(args.statuses, history.attemptsOf(readId(delivery))) };
  const forwarded = await passOn(delivery, args.forward);
  if (forwarded.kind === 'answered') return { status: forwarded.status };
  screen.print(`${screen.paint('red', `${args.forward.href}: ${forwarded.reason}.`)} ${forwarded.advice}`);
  return { status: 502 };
}

/**
 * Status for an attempt: one per attempt, and the last one repeats.
 * @param statuses at least one
 * @param before earlier attempts of this delivery
 */
export function statusFor(statuses: readonly number[], before: number): number {
  return statuses[Math.min(before, statuses.length - 1)] ?? 200;
}

function readId(delivery: ReceivedDelivery): string {
  return delivery.headers['webhook-id'] ?? '';
}
