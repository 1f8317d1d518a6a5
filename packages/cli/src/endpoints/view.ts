import { harmless } from 'terminal/format.ts';
import { count, facts, grid } from 'terminal/grid.ts';
import type { Paint } from 'terminal/paint.ts';
import type { DataOf } from '../../../sdk/src/index.ts';

export type Endpoint = DataOf<'readWebhook'>;
type Receiver = Endpoint | DataOf<'readChannel'>;
export type EndpointCounts = Omit<DataOf<'readWebhookStats'>, 'webhookId'>;

/** The failure state in a few words. */
function describeState({ status, pausedAt, disabledAt, failing, consecutiveFailures }: Receiver): string {
  if (status === 'paused') return `paused since ${pausedAt ?? ''}`.trimEnd();
  if (status === 'auto_disabled') return `disabled ${disabledAt ?? ''}`.trimEnd();
  if (failing === null) return status;
  const since = failing.since === null ? '' : ` since ${failing.since}`;
  return `failing${since}: ${consecutiveFailures} in a row, disabled after ${failing.failuresUntilDisabled} more`;
}

/** An endpoint that was paused or resumed, with the job that this started. */
export function describeUpdate(
  { redelivery, ...receiver }: DataOf<'updateWebhook'> | DataOf<'updateChannel'>,
  flags: { sandbox?: boolean | undefined },
): string {
  const { id, status } = receiver;
  const state = `${id} is ${describeState(receiver)}.`;
  if (status === 'paused')
    return `${state} Its deliveries are skipped until conversations endpoints resume ${id}.`;
  if (redelivery === null) return state;
  return `${state} In 90 seconds it begins to receive what was skipped. ${describeJob(redelivery, flags)}`;
}

/** How to follow a redelivery job. */
export const describeJob = (
  job: DataOf<'startRedelivery'> | DataOf<'startChannelRedelivery'>,
  { sandbox }: { sandbox?: boolean | undefined },
): string => {
  const at = 'channelId' in job ? `channels/${job.channelId}` : `webhooks/${job.webhookId}`;
  return `To follow it: conversations api GET /api/v1/${at}/redeliveries/${job.id}${sandbox ? ' --sandbox' : ''}`;
};

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
  endpoint: Receiver,
  { totals, latency }: EndpointCounts,
  paint: Paint,
): string {
  return facts(
    [
      ['events' in endpoint ? 'Endpoint' : 'Channel', endpoint.id],
      ['URL', endpoint.url ?? undefined],
      ['State', describeState(endpoint)],
      ['Reason', endpoint.disabledReason ?? undefined],
      ...('events' in endpoint ? listSettings(endpoint) : [['Name', endpoint.name] as const]),
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

const listSettings = ({ events, filter, description, maxPerSecond }: Endpoint) =>
  [
    ['Event types', events.join(', ')],
    ['Filter', filter === null ? undefined : describeFilter(filter)],
    ['Description', description ?? undefined],
    ['Limit', maxPerSecond === null ? undefined : `${maxPerSecond} attempts per second`],
  ] as const;

const describeFilter = ({ channelIds, roles }: NonNullable<Endpoint['filter']>): string =>
  [channelIds && `channel ${channelIds.join(', ')}`, roles && `role ${roles.join(', ')}`]
    .filter((part) => part !== undefined)
    .join('; ');

const colourOf = ({ status, failing }: Endpoint): 'red' | 'yellow' | 'green' => {
  if (status === 'auto_disabled') return 'red';
  return status === 'active' && failing === null ? 'green' : 'yellow';
};
