import { formatDuration, formatTime, indent } from 'terminal/format.ts';
import { type Cell, line } from 'terminal/line.ts';
import type { Paint } from 'terminal/paint.ts';
import { z } from 'zod';
import { renderBody } from './json-view.ts';
import type { Answer, ReceivedDelivery } from './receiver/receiver.ts';
import type { Verification } from './receiver/signature.ts';

const INDENT = 14;
const Envelope = z.object({ type: z.string() });

/**
 * Renders a delivery: time, event, attempt and signature; ids; body.
 * @param isDuplicate whether it was already accepted
 */
export function renderDelivery(delivery: ReceivedDelivery, isDuplicate: boolean, paint: Paint): string {
  const attempt = delivery.headers['webhook-attempt'];
  const head = line(
    paint,
    ['dim', formatTime(delivery.receivedAt)],
    ['bold', eventType(delivery)],
    attempt === undefined ? '' : `attempt ${attempt}`,
    describeVerification(delivery.verification),
    ['yellow', isDuplicate ? 'duplicate' : ''],
  );
  const ids = [
    delivery.headers['webhook-id'] ?? 'no webhook-id',
    delivery.headers['webhook-delivery-id'] ?? '',
  ];
  const body = delivery.body.length === 0 ? paint('dim', 'no body') : renderBody(delivery.body, paint);
  return [head, indent(line(paint, ['dim', ids.join('  ').trim()]), INDENT), indent(body, INDENT)].join('\n');
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
  const id = delivery.headers['webhook-delivery-id'] ?? '';
  return line(paint, ['dim', formatTime(now)], describeAnswer(answer, took), ['dim', id]);
}

function describeAnswer(answer: Answer | undefined, took: string): Cell {
  if (answer === undefined) return ['red', `the sender hung up after ${took}`];
  const colour = answer.status >= 200 && answer.status < 300 ? 'green' : 'red';
  return [colour, `← ${answer.status} after ${took}`];
}

function describeVerification(verification: Verification): Cell {
  if (verification.kind === 'verified') return ['green', '✓ verified'];
  if (verification.kind === 'unchecked') return ['dim', 'not verified'];
  return ['red', `✗ ${verification.reason}`];
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
