import { harmless, indent } from 'terminal/format.ts';
import { grid } from 'terminal/grid.ts';
import { type Cell, line } from 'terminal/line.ts';
import type { Paint } from 'terminal/paint.ts';
import type { ItemOf } from '../../../sdk/src/index.ts';
import { describeErrorCode, linkToCause } from '../error-codes.ts';
import { renderBody } from '../json-view.ts';
import { type EventDetails, explainEvent, renderExplanation } from './explain.ts';

export type ListedEvent = ItemOf<'listEvents'>;
type EventDelivery = EventDetails['deliveries'][number];

const INDENT = 2;

/** One line: time, event type, identifier, and the identifiers of what it is about. */
export function renderEventLine({ id, type, createdAt, data }: ListedEvent, paint: Paint): string {
  const about = Object.entries(data).flatMap(([name, value]) =>
    name.endsWith('Id') && typeof value === 'string' ? [`${name}=${value}`] : [],
  );
  return line(paint, ['dim', createdAt], ['bold', type], id, ['dim', about.join(' ')]);
}

/** The event with its payload, its deliveries and their attempts, and the endpoints that got no attempt. */
export function renderEvent(event: EventDetails, baseUrl: string, paint: Paint): string {
  const { id, type, createdAt, payload, deliveries, undelivered } = event;
  const absent = new Set(undelivered.map(({ webhookId }) => webhookId));
  const absences = explainEvent(event, baseUrl).filter(
    ({ receiverId, outcome }) => absent.has(receiverId) && outcome === 'not_received',
  );
  return [
    line(paint, ['bold', type], id, ['dim', createdAt]),
    indent(renderBody(Buffer.from(payload), paint), INDENT),
    '',
    deliveries.length === 0
      ? '  No deliveries.'
      : deliveries.map((delivery) => renderDeliveryOfEvent(delivery, baseUrl, paint)).join('\n\n'),
    ...(absences.length === 0 ? [] : ['']),
    ...absences.map((absence) => `  ${renderExplanation(absence, paint)}`),
  ].join('\n');
}

function renderDeliveryOfEvent(delivery: EventDelivery, baseUrl: string, paint: Paint): string {
  const { id, webhookId, channelId, url, status, redeliveryOf, attemptLog } = delivery;
  const head = line(
    paint,
    ...describeStatus(delivery),
    id,
    `→ ${webhookId ?? channelId} ${url ?? ''}`.trimEnd(),
    redeliveryOf === null ? '' : `resends ${redeliveryOf}`,
  );
  const attempts = attemptLog.map(({ number, startedAt, durationMs, status: answer, error, errorCode }) => [
    String(number),
    harmless(startedAt),
    `${durationMs} ms`,
    answer === null ? '–' : String(answer),
    harmless(errorCode ?? ''),
    harmless(error ?? ''),
  ]);
  const causes = [...new Set(attemptLog.map(({ errorCode }) => errorCode))].flatMap((code) =>
    code === null || code === undefined
      ? []
      : [`  ${harmless(`${code}: ${describeErrorCode(code)}. What to do: ${linkToCause(code, baseUrl)}`)}`],
  );
  const responses = attemptLog.flatMap(({ number, response }) =>
    response ? [`  Response to attempt ${number} (untrusted): ${harmless(JSON.stringify(response))}`] : [],
  );
  return [
    `  ${head}`,
    ...(attempts.length === 0
      ? [`    ${status === 'pending' ? 'Not attempted yet.' : 'No attempts.'}`]
      : [indent(grid(['Attempt', 'Started', 'Took', 'Status', 'Code', 'Error'], attempts, paint), INDENT)]),
    ...[...causes, ...responses].map((line) => indent(line, INDENT)),
  ].join('\n');
}

function describeStatus({ status, terminalReason, nextRetryAt, nextRetryReason }: EventDelivery): Cell[] {
  const colour = status === 'succeeded' ? 'green' : status === 'exhausted' ? 'red' : 'yellow';
  const reason = terminalReason === null ? '' : ` (${terminalReason})`;
  const why = nextRetryReason === null ? '' : ` (${nextRetryReason})`;
  return [[colour, `${status}${reason}`], nextRetryAt === null ? '' : `next attempt ${nextRetryAt}${why}`];
}
