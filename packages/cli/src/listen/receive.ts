import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalEnvironment } from 'terminal/local-run/environment-file.ts';
import { untilAborted } from 'terminal/stop-request.ts';
import { createClient } from '../../../sdk/src/index.ts';
import { renderAnswer, renderDelivery } from '../delivery-view.ts';
import { SUBSCRIBABLE } from '../event-types.ts';
import { passOn } from '../pass-on.ts';
import { type Answer, type ReceivedDelivery, startReceiver } from '../receiver/receiver.ts';
import type { ListenArguments } from './arguments.ts';
import { DeliveryHistory } from './delivery-history.ts';
import { type ListenParts, remove, renderSecret, renderSummary, resultOf } from './session.ts';

const PATH = '/listen';

/**
 * Receives, verifies, shows and answers deliveries of the local run until stopped.
 * @throws UserError when the local run does not respond, or the port is taken
 */
export async function receive(
  args: ListenArguments,
  environment: LocalEnvironment,
  parts: ListenParts,
): Promise<void> {
  const { screen, signal } = parts;
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
        parts.onResult?.(resultOf(delivery, answered?.status, history));
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
    if (args.forward) screen.print(renderSecret(endpoint.secret));
  } else {
    screen.print(
      `\n  ${screen.paint('green', 'Listening')} at ${screen.paint('bold', receiver.url)}, any path`,
    );
  }
  screen.print(`  ${screen.paint('dim', 'Ctrl-C stops.')}`);
  await untilAborted(signal);
  screen.print(`\n  ${renderSummary(deliveries.size, attempts)}`);
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

const readId = ({ headers }: ReceivedDelivery): string => headers['webhook-id'] ?? '';
