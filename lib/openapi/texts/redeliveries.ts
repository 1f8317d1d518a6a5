import * as redeliveries from '../../../functions/api/redeliveries/schemas.ts';
import * as examples from '../example-values.ts';
import { described, type OperationText } from '../operation-text.ts';
import { from, ordered, underWay } from '../redelivery-examples.ts';

const PATH = `/api/v1/webhooks/${examples.webhook.id}/redeliveries`;

export const operations = {
  startRedelivery: {
    tag: 'Deliveries',
    atMost: { reads: 5, writes: 20 },
    description: `Resends, in the background, all events whose deliveries to this endpoint ended \`exhausted\` or \`skipped\` in a period, oldest first. The answer
comes at once; read the redelivery (\`readRedelivery\`) to see how far it is.

Each event becomes one new delivery, as with \`redeliverDelivery\`, however many of its deliveries failed in the time. Passed over are events that have arrived by
a redelivery meanwhile, and those that are more than 30 days old. The time of a delivery is that of its event, or that at which it was resent. The new deliveries
of a receiver that still fails fail again, and count.

One redelivery runs at a time for an endpoint: another one is refused with \`CONFLICT\`, and so is one for an endpoint that is disabled. It ends by itself when
the endpoint is disabled or deleted, and disappears with the sandbox’s data at a reset.`,
    body: { from, statuses: ['exhausted'] },
    answer: 'The redelivery, which runs.',
    data: { ...ordered, statuses: ['exhausted'] },
    location: `${PATH}/${ordered.id}`,
  },
  listRedeliveries: {
    tag: 'Deliveries',
    atMost: { reads: 20, writes: 3 },
    description:
      'The redeliveries of an endpoint, newest first. One that has ended can be read for 30 days more.',
    answer: 'A page of redeliveries.',
    data: [underWay],
  },
  readRedelivery: {
    tag: 'Deliveries',
    atMost: { reads: 5, writes: 3 },
    description:
      'One redelivery: how far it is, or how it ended. It changes several times a second while it runs.',
    answer: 'The redelivery.',
    data: underWay,
  },
  stopRedelivery: {
    tag: 'Deliveries',
    atMost: { reads: 4, writes: 10 },
    description: `Stops a redelivery. What it has made is delivered all the same, and what was being made at this moment as well: a few hundred more may come.

One that has ended, or never was, is a success as well, so that a repetition is safe.`,
    answer: 'It does not run any more.',
  },
} as const satisfies Record<string, OperationText>;

/** The schemas of answers. */
export const answers = {
  Redelivery: described(redeliveries.Redelivery, {
    id: 'Identifies the redelivery.',
    webhookId: 'The endpoint whose deliveries are resent.',
    status: '`running`, `done` when it has come to the end of its time, or `stopped` before that.',
    reason:
      'Why it was stopped: `cancelled` on request, `endpoint_disabled` or `endpoint_deleted`. Null otherwise.',
    from: 'Beginning of the time whose deliveries it resends, included: 30 days before it was started at the earliest.',
    to: 'End of that time, excluded: when it was started at the latest.',
    statuses: 'How the deliveries ended that it resends.',
    examined: 'How many deliveries of the period it has read so far, resent or not.',
    redelivered: 'How many new deliveries it has made so far, one for each event.',
    progress: 'The part of its time that it has examined so far, from 0 to 1. 1 when it is `done`.',
    createdAt: 'When it was started, UTC. Each of its deliveries has the time at which it was made.',
    finishedAt: 'When it was done or stopped, UTC; null while it runs.',
  }),
};

/** The schemas of requests. */
export const bodies = {
  StartRedelivery: described(redeliveries.StartRedelivery, {
    from: 'Beginning of the time, UTC, included. What is more than 30 days ago counts as 30 days ago.',
    to: 'End of the time, UTC, excluded. Left out, or in the future, it is now.',
    statuses: 'How the deliveries ended that are to be resent. Left out, it is both.',
  }),
};
