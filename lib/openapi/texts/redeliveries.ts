import { StartRedelivery } from '../../../functions/api/receiver-routes.ts';
import * as redeliveries from '../../../functions/api/webhooks/routes.ts';
import * as examples from '../example-values.ts';
import { described, type OperationText } from '../operation-text.ts';
import { from, ordered, underWay } from '../redelivery-examples.ts';

const PATH = `/api/v1/webhooks/${examples.webhook.id}/redeliveries`;

export const operations = {
  startRedelivery: {
    tag: 'Deliveries',
    summary: 'Resend the failed deliveries of a webhook endpoint in a time range',
    mostTokens: 2,
    description: `Starts a background job that resends what this endpoint lacks from a period, oldest first.
Read the job (\`readRedelivery\`) for its progress.

- \`what: failed\` resends the events whose deliveries to this endpoint ended \`exhausted\` or \`skipped\`.
- \`what: missing\` resends every event that is for this endpoint and that neither it nor its predecessor has
  received, also events from before its registration. To replace a disabled endpoint, register its URL again, send a test event, then
  resend what is missing since the outage began.
- With \`dryRun\` the job creates no deliveries: it counts them by event type. A dry run also works for a
  disabled endpoint.

Each event gets one new delivery, as with \`redeliverDelivery\`, unless a redelivery has succeeded since, the
endpoint no longer subscribes to its type, or it is older than 30 days. The time of a delivery is that of its event or, for a redelivery, that of the
request. New failures count toward those of the endpoint.

One job runs at a time for an endpoint. Another one fails with \`CONFLICT\`, as does a job for a disabled
endpoint. A job stops when the endpoint is disabled or deleted. A sandbox reset deletes it.`,
    body: { what: 'missing', from },
    answer: 'The running redelivery job.',
    data: { ...ordered, what: 'missing', statuses: [] },
    location: `${PATH}/${ordered.id}`,
  },
  listRedeliveries: {
    tag: 'Deliveries',
    summary: 'List the redelivery jobs of a webhook endpoint',
    description:
      'Returns the redelivery jobs of an endpoint, newest first. Jobs are kept for 30 days after they end.',
    answer: 'A page of redelivery jobs.',
    data: [underWay],
  },
  readRedelivery: {
    tag: 'Deliveries',
    summary: 'Read a redelivery job',
    description:
      'Returns a redelivery job with its progress and outcome. A running job changes several times a second.',
    answer: 'The redelivery job.',
    data: underWay,
  },
  stopRedelivery: {
    tag: 'Deliveries',
    summary: 'Stop a redelivery job',
    description: `Stops a redelivery job. Deliveries that it has created, or is creating (up to 16), are still sent.

Stopping a job that has ended or does not exist succeeds, so retries are safe.`,
    answer: 'The redelivery job is stopped.',
  },
} as const satisfies Record<string, OperationText>;

export const redeliveryFields = {
  id: 'Identifier of the redelivery job.',
  status: '`running`, `done` (the whole period was processed) or `stopped` (ended early; see `reason`).',
  reason:
    'Why it was stopped: `cancelled` by a request; `endpoint_disabled`, `endpoint_deleted` or `endpoint_paused`, of a channel as well; or `test_failed`. Null otherwise.',
  from: 'Start of the period, inclusive; at most 30 days before the start of the job.',
  to: 'End of the period, exclusive; at most the start of the job.',
  what: '`failed`: deliveries that ended without success. `missing`: events that the endpoint has not received.',
  dryRun: 'Whether the job only counts.',
  statuses: 'Terminal statuses of the deliveries to resend; empty for `missing`.',
  examined:
    'Number of deliveries (`failed`) or events (`missing`) of the period examined so far, resent or not.',
  redelivered:
    'Number of new deliveries created so far, one for each event, without those behind one that still waits for its first attempt. In a dry run: the number it would create.',
  eventTypes: 'The same by event type, the most frequent first.',
  firstEventAt: 'Time of the first of these events, UTC; null while there is none.',
  progress: 'Fraction of the period examined so far, from 0 to 1. 1 when `done`.',
  createdAt: 'When the job was started, UTC. Its deliveries are created later.',
  finishedAt: 'When the job ended, UTC; null while `running`.',
};

/** The schemas of answers. */
export const answers = {
  Redelivery: described(redeliveries.Redelivery, { webhookId: 'The endpoint.', ...redeliveryFields }),
};

/** The schemas of requests. */
export const bodies = {
  StartRedelivery: described(
    StartRedelivery,
    {
      what: '`failed` (default) or `missing`: which events to resend.',
      dryRun: 'Whether to only count. Default: false.',
      from: 'Start of the period, UTC, inclusive. A time more than 30 days ago counts as 30 days ago.',
      to: 'End of the period, UTC, exclusive. Default and maximum: now.',
      statuses:
        'Terminal statuses of the deliveries to resend. Default: `exhausted` and `skipped`. Only for `failed`.',
    },
    { statuses: { uniqueItems: true } },
  ),
};
