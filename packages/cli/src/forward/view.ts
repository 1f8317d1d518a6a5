import { formatDuration, formatTime, harmless, indent } from 'terminal/format.ts';
import { line } from 'terminal/line.ts';
import type { Paint } from 'terminal/paint.ts';
import { renderAnswer } from '../delivery-view.ts';
import type { PassedOn } from '../pass-on.ts';
import type { ForwardArguments } from './arguments.ts';
import type { SandboxDelivery } from './sandbox-api.ts';

const INDENT = 14;

/** Target without user, password and query, which may be secret. */
function renderTarget(to: URL): string {
  return `${to.origin}${to.pathname}${to.search === '' ? '' : '?…'}`;
}

/** Renders a delivery before forwarding: time, event, attempt and target; ids. */
export function renderForwarding(delivery: SandboxDelivery, to: URL, at: Date, paint: Paint): string {
  const attempt = delivery.request?.headers['webhook-attempt'];
  const head = line(
    paint,
    ['dim', formatTime(at)],
    ['bold', delivery.eventType],
    attempt === undefined ? '' : `attempt ${attempt}`,
    ['cyan', `→ ${renderTarget(to)}`],
  );
  const ids = [delivery.eventId, delivery.id, delivery.webhookId].join('  ');
  return [head, indent(line(paint, ['dim', ids]), INDENT)].join('\n');
}

/** Renders the result of forwarding. */
export function renderPassedOn(
  delivery: SandboxDelivery,
  result: PassedOn,
  { startedAt, endedAt }: { startedAt: Date; endedAt: Date },
  paint: Paint,
): string {
  if (result.kind === 'answered') {
    const received = { receivedAt: startedAt, headers: { 'webhook-delivery-id': delivery.id } };
    return renderAnswer(received, { status: result.status }, endedAt, paint);
  }
  const took = formatDuration(endedAt.getTime() - startedAt.getTime());
  const failed = `✗ ${result.reason} after ${took}`;
  return [
    line(paint, ['dim', formatTime(endedAt)], ['red', failed], ['dim', delivery.id]),
    indent(harmless(result.advice), INDENT),
  ].join('\n');
}

/** Renders the followed endpoints and the start position. */
export function renderStart(
  args: Pick<ForwardArguments, 'to'>,
  place: { baseUrl: string; endpoints: readonly string[]; from: string },
  paint: Paint,
): string {
  const endpoints =
    place.endpoints.length === 0
      ? 'The sandbox has no endpoint yet: waiting for one.'
      : `${place.endpoints.map(harmless).join(', ')}; ${place.from}.`;
  return [
    `\n  ${paint('green', 'Forwarding')} the sandbox at ${place.baseUrl} ${paint('cyan', '→')} ${paint('bold', renderTarget(args.to))}`,
    `  ${endpoints}`,
  ].join('\n');
}

/** Totals of forwarding. */
export interface Tally {
  accepted: number;
  failed: number;
}

export function renderSummary({ accepted, failed }: Tally, stateFile: string, paint: Paint): string {
  const count = accepted + failed;
  const what = count === 0 ? 'nothing' : count === 1 ? 'one delivery' : `${count} deliveries`;
  const failures = failed === 0 ? '' : `, ${paint('red', `${failed} not accepted`)}`;
  return `\n  Forwarded ${what}${failures}. Where it stopped is kept in ${stateFile}.`;
}
