import { z } from 'zod';
import type { Answer, ReceivedDelivery } from './receiver/receiver.ts';
import type { Verification } from './receiver/signature.ts';
import { formatDuration, formatTime, harmless, indent } from './terminal/format.ts';
import { renderBody } from './terminal/json-view.ts';
import type { Paint } from './terminal/paint.ts';

const INDENT = 14;
const Envelope = z.object({ type: z.string() });

/**
 * Renders a delivery: time, event, attempt and signature; ids; body.
 * @param isDuplicate whether it was already accepted
 */
export function renderDelivery(delivery: ReceivedDelivery, isDuplicate: boolean, paint: Paint): string {
  const attempt = delivery.headers['webhook-attempt'];
  const head = [
    paint('dim', formatTime(delivery.receivedAt)),
    paint('bold', harmless(eventType(delivery))),
    ...(attempt === undefined ? [] : [`attempt ${harmless(attempt)}`]),
    renderVerification(delivery.verification, paint),
    ...(isDuplicate ? [paint('yellow', 'duplicate')] : []),
  ];
  const ids = [
    delivery.headers['webhook-id'] ?? 'no webhook-id',
    delivery.headers['webhook-delivery-id'] ?? '',
  ];
  const body = delivery.body.length === 0 ? paint('dim', 'no body') : renderBody(delivery.body, paint);
  return [
    head.join('  '),
    indent(paint('dim', harmless(ids.join('  ').trim())), INDENT),
    indent(body, INDENT),
  ].join('\n');
}

/**
 * Renders the response to a delivery.
 * @param answer undefined when the sender disconnected first
 */
export function renderAnswer(
  delivery: Pick<ReceivedDelivery, 'receivedAt' | 'headers'>,
  answer: Answer | undefined,
  now: Date,
  paint: Paint,
): string {
  const took = formatDuration(now.getTime() - delivery.receivedAt.getTime());
  const id = paint('dim', harmless(delivery.headers['webhook-delivery-id'] ?? ''));
  const time = paint('dim', formatTime(now));
  if (answer === undefined) return `${time}  ${paint('red', `the sender hung up after ${took}`)}  ${id}`;
  const colour = answer.status >= 200 && answer.status < 300 ? 'green' : 'red';
  return `${time}  ${paint(colour, `← ${answer.status}`)} after ${took}  ${id}`;
}

function renderVerification(verification: Verification, paint: Paint): string {
  if (verification.kind === 'verified') return paint('green', '✓ verified');
  if (verification.kind === 'unchecked') return paint('dim', 'not verified');
  return paint('red', `✗ ${verification.reason}`);
}

function eventType(delivery: ReceivedDelivery): string {
  try {
    const body = Envelope.safeParse(JSON.parse(delivery.body.toString('utf8')));
    if (body.success) return body.data.type;
  } catch {
    // An open port may receive anything; the request line shows it.
  }
  return `${delivery.method} ${delivery.path}`;
}
