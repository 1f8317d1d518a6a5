import { harmless } from 'terminal/format.ts';
import { count, facts, grid } from 'terminal/grid.ts';
import type { Paint } from 'terminal/paint.ts';
import type { DataOf } from '../../../sdk/src/index.ts';

export type Endpoint = DataOf<'readWebhook'>;
export type EndpointCounts = DataOf<'readWebhookStats'>;

/** The failure state in a few words. */
function describeState({ status, pausedAt, disabledAt, failing, consecutiveFailures }: Endpoint): string {
  if (status === 'paused') return `paused since ${pausedAt ?? ''}`.trimEnd();
  if (status === 'auto_disabled') return `disabled ${disabledAt ?? ''}`.trimEnd();
  if (failing === null) return status;
  const since = failing.since === null ? '' : ` since ${failing.since}`;
  return `failing${since}: ${consecutiveFailures} in a row, disabled after ${failing.failuresUntilDisabled} more`;
}

/** An endpoint that was paused or resumed, with the job that this started. */
export function describeUpdate(
  { id, redelivery, ...endpoint }: DataOf<'updateWebhook'>,
  flags: { sandbox?: boolean | undefined },
): string {
  const state = `${id} is ${describeState({ id, ...endpoint })}.`;
  if (endpoint.status === 'paused')
    return `${state} Its deliveries are skipped until conversations endpoints resume ${id}.`;
  if (redelivery === null) return state;
  return `${state} In 90 seconds it begins to receive what was skipped. ${describeJob(redelivery, flags)}`;
}

/** How to follow a redelivery job. */
export const describeJob = (
  { id, webhookId }: DataOf<'startRedelivery'>,
  { sandbox }: { sandbox?: boolean | undefined },
): string =>
  `To follow it: conversations api GET /api/v1/webhooks/${webhookId}/redeliveries/${id}${sandbox ? ' --sandbox' : ''}`;

export function renderEndpoints(endpoints: readonly Endpoint[], paint: Paint): string {
  if (endpoints.length === 0) return 'There are no endpoints.';
  const rows = endpoints.map((endpoint) => [
    harmless(endpoint.id),
    paint(colourOf(endpoint), harmless(describeState(endpoint))),
    harmless(endpoint.url),
  ]);
  return grid(['Endpoint', 'State', 'URL'], rows, paint);
}

/** @param counts of the last 24 hours */
export function renderEndpoint(
  endpoint: Endpoint,
  { totals, latency }: EndpointCounts,
  paint: Paint,
): string {
  return facts(
    [
      ['Endpoint', endpoint.id],
      ['URL', endpoint.url],
      ['State', describeState(endpoint)],
      ['Reason', endpoint.disabledReason ?? undefined],
      ['Event types', endpoint.events.join(', ')],
      ['Filter', endpoint.filter === null ? undefined : describeFilter(endpoint.filter)],
      ['Description', endpoint.description ?? undefined],
      ['Limit', endpoint.maxPerSecond === null ? undefined : `${endpoint.maxPerSecond} attempts per second`],
      ['Created', endpoint.createdAt],
      [
        'Last 24 hours',
        `${count(totals.owed)} ${totals.owed === 1 ? 'delivery' : 'deliveries'}: ${count(totals.succeeded)} succeeded, ${count(totals.pending)} pending, ` +
          `${count(totals.exhausted)} exhausted, ${count(totals.skipped)} skipped`,
      ],
      [
        'Response time',
        latency === null ? undefined : `${latency.p50Ms} ms (p50), ${latency.p95Ms} ms (p95)`,
      ],
    ],
    paint,
  );
}

const describeFilter = ({ channelIds, roles }: NonNullable<Endpoint['filter']>): string =>
  [channelIds && `channel ${channelIds.join(', ')}`, roles && `role ${roles.join(', ')}`]
    .filter((part) => part !== undefined)
    .join('; ');

const colourOf = ({ status, failing }: Endpoint): 'red' | 'yellow' | 'green' => {
  if (status === 'auto_disabled') return 'red';
  return status === 'active' && failing === null ? 'green' : 'yellow';
};
