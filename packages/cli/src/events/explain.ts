import { line } from 'terminal/line.ts';
import type { Paint } from 'terminal/paint.ts';
import type { DataOf } from '../../../sdk/src/index.ts';
import type { Api } from '../connection/connect.ts';
import { describeErrorCode, linkToCause } from '../error-codes.ts';
import { receiverClient } from '../receiver-client.ts';

export type EventDetails = DataOf<'readEvent'>;
type EventDelivery = EventDetails['deliveries'][number];
type Undelivered = EventDetails['undelivered'][number];

/** Why an endpoint, or a channel, did or did not receive an event. */
export interface Explanation {
  /** `whk_…`, or `chn_…` of a message for a channel. */
  receiverId: string;
  url: string | null;
  outcome: 'received' | 'waiting' | 'not_received';
  /** A code: of `undelivered`, a terminal reason, of the last attempt's error, or the delivery's status. */
  reason: string;
  /** A clause. */
  explanation: string;
}

const UNDELIVERED: Readonly<Record<Undelivered['reason'], string>> = {
  erased: 'the conversation of the event was erased before an attempt',
  not_subscribed: 'it was not subscribed to this event type',
  filtered: 'its filter excludes the event',
  registered_later: 'it was registered after the event',
  paused: 'it was paused at that time',
  disabled: 'it was disabled at that time',
  deleted: 'it was deleted',
  example_for_another: 'the event is an example, which was sent to another endpoint only',
  about_itself: 'the event is about it, and goes to other endpoints only',
};

const ENDED: Readonly<Record<NonNullable<EventDelivery['terminalReason']>, string>> = {
  max_attempts: 'no attempt is left',
  sandbox_simulated: 'its simulated receiver accepted it, and nothing left the service',
  endpoint_disabled: 'it was disabled',
  endpoint_deleted: 'it was deleted',
  endpoint_paused: 'it was paused',
  erased: 'the conversation of the event was erased',
  not_subscribed: 'it no longer subscribes to the event type, or its filter excludes the event',
  event_missing: 'the event no longer exists',
  expired: 'its delivery was still open after 3 days',
};

/** Explains each receiver of an event: those that have a delivery first. */
export function explainEvent({ deliveries, undelivered }: EventDetails, baseUrl: string): Explanation[] {
  const ofReceiver = Map.groupBy(deliveries, ({ webhookId, channelId }) => webhookId ?? channelId ?? '');
  const absences = new Map(undelivered.map((absence) => [absence.webhookId, absence]));
  return [...new Set([...ofReceiver.keys(), ...absences.keys()])].flatMap((receiverId) => {
    const all = ofReceiver.get(receiverId) ?? [];
    const delivery = all.find(({ status }) => status === 'succeeded') ?? all.at(-1);
    const absence = absences.get(receiverId);
    if (absence !== undefined && delivery?.status !== 'succeeded')
      return [{ receiverId, url: absence.url, ...explainAbsence(absence) }];
    if (delivery === undefined) return [];
    return [{ receiverId, url: delivery.url, ...explainDelivery(delivery, baseUrl) }];
  });
}

type Explained = Omit<Explanation, 'receiverId' | 'url'>;

/** Explains an event for all receivers, or for one. @throws ApiError for an endpoint that does not exist */
export async function explainFor(
  { client, baseUrl }: Api,
  { id, endpoint }: { id: string; endpoint: string | undefined },
  options: { signal?: AbortSignal },
): Promise<Explanation[]> {
  const event = await client.events.get(id, {}, options);
  const explained = explainEvent(event, baseUrl).filter(
    ({ receiverId }) => endpoint === undefined || receiverId === endpoint,
  );
  if (endpoint === undefined || explained.length > 0) return explained;
  const { url } = await receiverClient(client, endpoint).get(endpoint, options);
  return [{ receiverId: endpoint, url, ...explainUnlisted(event) }];
}

/** Of an existing endpoint that the event does not name: it has no delivery, and no reason. */
function explainUnlisted({ type }: EventDetails): Explained {
  const outcome = 'not_received';
  if (type === 'webhook.test')
    return { outcome, reason: 'test_of_another', explanation: 'the event is a test of another endpoint' };
  if (type === 'channel.message' || type === 'channel.test')
    return { outcome, reason: 'for_a_channel', explanation: 'the event is for a channel' };
  return {
    outcome: 'waiting',
    reason: 'pending',
    explanation: 'its delivery is being created, ask again in a minute',
  };
}

const explainAbsence = ({ reason }: Undelivered): Explained => ({
  outcome: 'not_received',
  reason,
  explanation: UNDELIVERED[reason] ?? reason,
});

function explainDelivery(delivery: EventDelivery, baseUrl: string): Explained {
  const { status, terminalReason, terminalAt, attempts, nextRetryAt, nextRetryReason } = delivery;
  const ended = terminalReason === null ? status : (ENDED[terminalReason] ?? terminalReason);
  const due = nextRetryAt === null ? 'is in progress' : `is due at ${nextRetryAt}`;
  const asked = nextRetryReason === 'retry_after' ? ', the time that the receiver asked for' : '';
  switch (status) {
    case 'succeeded': {
      const answered = `attempt ${attempts} was answered ${delivery.lastResponseStatus} at ${terminalAt}`;
      const explanation = terminalReason === null ? answered : ended;
      return { outcome: 'received', reason: terminalReason ?? status, explanation };
    }
    case 'pending':
      return { outcome: 'waiting', reason: status, explanation: `its first attempt ${due}` };
    case 'retrying':
      return {
        outcome: 'waiting',
        reason: delivery.lastErrorCode ?? status,
        explanation: `${describeFailure(delivery, baseUrl)}; the next one ${due}${asked}`,
      };
    default: {
      const failure = attempts === 0 ? '' : `${describeFailure(delivery, baseUrl)}; `;
      const reason = (status === 'exhausted' ? delivery.lastErrorCode : terminalReason) ?? status;
      return { outcome: 'not_received', reason, explanation: `${failure}${ended}` };
    }
  }
}

function describeFailure({ attempts, lastErrorCode, lastError }: EventDelivery, baseUrl: string): string {
  if (lastErrorCode === null) return `attempt ${attempts} failed (${lastError ?? 'no error is known'})`;
  const help = linkToCause(lastErrorCode, baseUrl);
  return `attempt ${attempts} failed (${lastErrorCode}: ${lastError ?? describeErrorCode(lastErrorCode)}, see ${help})`;
}

const OUTCOMES = {
  received: ['green', 'received it'],
  waiting: ['yellow', 'has not received it yet'],
  not_received: ['red', 'did not receive it'],
} as const;

/** The explanation as a sentence. */
export function renderExplanation({ receiverId, outcome, explanation }: Explanation, paint: Paint): string {
  const [colour, verb] = OUTCOMES[outcome];
  return `${line(paint, receiverId)} ${line(paint, [colour, verb])}${line(paint, `: ${explanation}.`)}`;
}
