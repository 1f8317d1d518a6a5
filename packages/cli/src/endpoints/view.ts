import { harmless } from 'terminal/format.ts';
import { count, facts, grid } from 'terminal/grid.ts';
import type { Paint } from 'terminal/paint.ts';
import type { DataOf } from '../../../sdk/src/index.ts';

export type Endpoint = DataOf<'readWebhook'>;
export type EndpointCounts = DataOf<'readWebhookStats'>;

/** The failure state in a few words. */
function describeState({ status, disabledAt, failing, consecutiveFailures }: Endpoint): string {
  if (status === 'auto_disabled') return `disabled ${disabledAt ?? ''}`.trimEnd();
  if (failing === null) return status;
  const since = failing.since === null ? '' : ` since ${failing.since}`;
  return `failing${since}: ${consecutiveFailures} in a row, disabled after ${failing.failuresUntilDisabled} more`;
}

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

const colourOf = ({ status, failing }: Endpoint): 'red' | 'yellow' | 'green' => {
  if (status === 'auto_disabled') return 'red';
  return failing === null ? 'green' : 'yellow';
};
