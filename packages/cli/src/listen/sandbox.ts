import { formatDuration, formatTime, harmless, indent } from 'terminal/format.ts';
import { line } from 'terminal/line.ts';
import { authoritiesFor } from '../connection/authorities.ts';
import { connect, readSources } from '../connection/connect.ts';
import { renderAnswer, renderDelivery } from '../delivery-view.ts';
import { SUBSCRIBABLE } from '../event-types.ts';
import { passOn } from '../pass-on.ts';
import type { ReceivedDelivery } from '../receiver/receiver.ts';
import { verifySignature } from '../receiver/signature.ts';
import { renderError } from '../report.ts';
import { toDate } from '../since.ts';
import type { ListenArguments } from './arguments.ts';
import { DeliveryHistory } from './delivery-history.ts';
import { followDeliveries, type SandboxDelivery } from './follow.ts';
import { type ListenParts, remove, renderSecret, renderSummary, resultOf } from './session.ts';

/** Shows, verifies and forwards the deliveries of a sandbox's endpoint, as the API returns them. */
export async function listenInSandbox(args: ListenArguments, parts: ListenParts): Promise<void> {
  const { screen, signal } = parts;
  const { client, baseUrl } = await connect({ baseUrl: args.baseUrl, sandbox: true }, parts);
  const ca = args.forward && (await authoritiesFor(args.forward, (await readSources(parts)).local));
  const history = new DeliveryHistory();
  const deliveries = new Set<string>();
  let attempts = 0;

  await using started = new AsyncDisposableStack();
  const endpoint =
    args.endpoint === undefined
      ? started.adopt(
          await client.endpoints.register(
            { url: simulatedUrl(args), events: args.events, description: 'conversations listen' },
            { signal },
          ),
          ({ id }) => remove(id, client, screen),
        )
      : await client.endpoints.get(args.endpoint, { signal });
  const secret = 'secret' in endpoint && typeof endpoint.secret === 'string' ? endpoint.secret : undefined;
  const events =
    endpoint.events.length === SUBSCRIBABLE.length ? 'all event types' : endpoint.events.join(', ');
  const { paint } = screen;
  screen.print(`\n  ${paint('green', 'Listening')} as ${endpoint.id} for ${harmless(events)}`);
  screen.print(`  ${paint('dim', `in the sandbox at ${baseUrl}. Ctrl-C stops.`)}`);
  if (args.forward && secret !== undefined) screen.print(renderSecret(secret));
  try {
    const followed = followDeliveries(client, endpoint.id, {
      from: args.endpoint === undefined ? new Date(endpoint.createdAt) : args.since && toDate(args.since),
      signal,
      onTrouble: (error) => screen.print(`  ${renderError(error, paint)} Trying again …`),
      onRecovery: () => screen.print(`  ${paint('green', 'The API answers again.')}`),
    });
    for await (const delivery of followed) {
      const received = await toReceived(delivery, secret);
      screen.print(`\n${renderDelivery(received, history.isDuplicate(delivery.eventId), paint)}`);
      const { status, text } = args.forward
        ? await forward(received, args.forward, { ca, signal, paint })
        : simulated(delivery, paint);
      parts.onResult?.(resultOf(received, status, history));
      if (status !== undefined) history.answered(delivery.eventId, status);
      screen.print(text);
      deliveries.add(delivery.id);
      attempts += 1;
    }
  } finally {
    screen.print(`\n  ${renderSummary(deliveries.size, attempts)}`);
  }
}

/** A URL of nobody, whose simulated receiver answers as the arguments say (docs/guides/sandbox.md). */
function simulatedUrl({ statuses, delayMs }: ListenArguments): string {
  const wait = delayMs > 0 ? `@${delayMs}ms` : '';
  return `https://example.com/listen?simulate=${statuses.map((status) => `${status}${wait}`).join(',')}`;
}

async function toReceived(
  { request }: SandboxDelivery,
  secret: string | undefined,
): Promise<ReceivedDelivery> {
  const { headers = {}, body: text = '', method = 'POST', url = '' } = request ?? {};
  const body = Buffer.from(text);
  const verification = await verifySignature(secret, body, headers);
  return {
    receivedAt: new Date(),
    method,
    path: URL.parse(url)?.pathname ?? '',
    headers,
    body,
    verification,
  };
}

type Shown = { status: number | undefined; text: string };

async function forward(
  delivery: ReceivedDelivery,
  to: URL,
  {
    ca,
    signal,
    paint,
  }: { ca: string[] | undefined; signal: AbortSignal; paint: ListenParts['screen']['paint'] },
): Promise<Shown> {
  const result = await passOn(delivery, to, { ca, signal });
  if (result.kind === 'answered')
    return { status: result.status, text: renderAnswer(delivery, result, new Date(), paint) };
  signal.throwIfAborted();
  const now = new Date();
  const took = formatDuration(now.getTime() - delivery.receivedAt.getTime());
  const id = delivery.headers['webhook-delivery-id'] ?? '';
  const failed = line(
    paint,
    ['dim', formatTime(now)],
    ['red', `✗ ${result.reason} after ${took}`],
    ['dim', id],
  );
  return { status: undefined, text: `${failed}\n${indent(harmless(result.advice), 14)}` };
}

/** What the simulated receiver answered. */
function simulated(
  { id, status, lastResponseStatus, lastErrorCode }: SandboxDelivery,
  paint: ListenParts['screen']['paint'],
): Shown {
  const answer = lastResponseStatus ?? lastErrorCode ?? 'in progress';
  const colour = status === 'succeeded' ? 'green' : 'red';
  return {
    status: lastResponseStatus ?? undefined,
    text: line(paint, ['dim', formatTime(new Date())], [colour, `← ${answer}, simulated`], ['dim', id]),
  };
}
