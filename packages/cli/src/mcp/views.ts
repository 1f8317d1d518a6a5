import type { DataOf, ItemOf } from '../../../sdk/src/index.ts';
import { untrusted } from './untrusted.ts';

/* Resources of the API as tools return them: texts from outside are marked. */

export const viewEvent = ({ data, deliveries, ...event }: ItemOf<'listEvents'>) => ({
  ...event,
  data: untrusted(data),
  ...(deliveries && { deliveries }),
});

export const viewEventDetails = ({ data: _, payload, deliveries, ...event }: DataOf<'readEvent'>) => ({
  ...event,
  payload: untrusted(payload),
  deliveries: deliveries.map((delivery) => ({
    ...delivery,
    attemptLog: delivery.attemptLog.map(viewAttempt),
  })),
});

export const viewDelivery = ({ attemptLog, ...delivery }: DataOf<'readDelivery'>) => ({
  ...delivery,
  attemptLog: attemptLog.map(viewAttempt),
});

/** Without the sandbox's request, whose body is the payload. */
const viewAttempt = ({ request: _, response, ...attempt }: DataOf<'readDelivery'>['attemptLog'][number]) => ({
  ...attempt,
  response: response === null ? null : untrusted(response),
});

export const viewEndpoint = ({ description, ...endpoint }: DataOf<'readWebhook'>) => ({
  ...endpoint,
  description: description === null ? null : untrusted(description),
});
