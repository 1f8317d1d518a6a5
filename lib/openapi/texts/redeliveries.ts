import * as cast from '../cast.ts';
import type { OperationText } from '../operation-text.ts';
import { from, ordered, underWay } from '../redelivery-cast.ts';

const PATH = `/api/v1/webhooks/${cast.webhook.id}/redeliveries`;

export const REDELIVERY_TEXTS = {
  startRedelivery: {
    tag: 'Deliveries',
    description: `Sends again, in the background, all events whose deliveries to this endpoint ended \`exhausted\` or \`skipped\` in a time, oldest first. The answer
comes at once; read the redelivery (\`readRedelivery\`) to see how far it is.

Each event becomes one new delivery, as with \`redeliverDelivery\`, however many of its deliveries failed in the time. Passed over are events that have arrived by
a redelivery meanwhile, and those that are more than 30 days old. The time of a delivery is that of its event, or that at which it was sent again. The new deliveries
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
    description:
      'The redeliveries of an endpoint, newest first. One that has ended can be read for 30 days more.',
    answer: 'A page of redeliveries.',
    data: [underWay],
  },
  readRedelivery: {
    tag: 'Deliveries',
    description:
      'One redelivery: how far it is, or how it ended. It changes several times a second while it runs.',
    answer: 'The redelivery.',
    data: underWay,
  },
  stopRedelivery: {
    tag: 'Deliveries',
    description: `Stops a redelivery. What it has made is delivered all the same, and what was being made at this moment as well: a few hundred more may come.

One that has ended, or never was, is a success as well, so that a repetition is safe.`,
    answer: 'It does not run any more.',
  },
} as const satisfies Record<string, OperationText>;
