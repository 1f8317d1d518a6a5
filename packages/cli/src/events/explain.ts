import { line } from 'terminal/line.ts';
import type { Paint } from 'terminal/paint.ts';
import type { DataOf } from '../../../sdk/src/index.ts';
import { describeErrorCode, linkToCause } from '../error-codes.ts';

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
  not_subscribed: 'it no longer subscribes to the event type, or its filter excludes the event',
  event_missing: 'the event no longer exists',
  expired: 'its delivery was still open after 3 days',
};

/** Explains each receiver of an event: those that have a delivery first. */
export function explainEvent({ deliveries, undelivered }: EventDetails): Explanation[] {
  const ofReceiver = Map.groupBy(deliveries, ({ webhookId, channelId }) => webhookId ?? channelId ?? '');
  const absences = new Map(undelivered.map((absence) => [absence.webhookId, absence]));
  return [...new Set([...ofReceiver.keys(), ...absences.keys()])].flatMap((receiverId) => {
    const all = ofReceiver.get(receiverId) ?? [];
    const delivery = all.find(({ status }) => status === 'succeeded') ?? all.at(-1);
    const absence = absences.get(receiverId);
    if (absence !== undefined && delivery?.status !== 'succeeded')
      return [{ receiverId, url: absence.url, ...explainAbsence(absence) }];
    return delivery === undefined ? [] : [{ receiverId, url: delivery.url, ...explainDelivery(delivery) }];
  });
}

type Explained = Omit<Explanation, 'receiverId' | 'url'>;

const explainAbsence = ({ reason }: Undelivered): Explained => ({
  outcome: 'not_received',
  reason,
  explanation: UNDELIVERED[reason] ?? reason,
});

function explainDelivery(delivery: EventDelivery): Explained {
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
        explanation: `${describeFailure(delivery)}; the next one ${due}${asked}`,
      };
    default: {
      const failure = attempts === 0 ? '' : `${describeFailure(delivery)}; `;
      const reason = (status === 'exhausted' ? delivery.lastErrorCode : terminalReason) ?? status;
      return { outcome: 'not_received', reason, explanation: `${failure}${ended}` };
    }
  }
}

function describeFailure({ attempts, lastErrorCode, lastError }: EventDelivery): string {
  if (lastErrorCode === null) return `attempt ${attempts} failed (${lastError ?? 'no error is known'})`;
  const help = linkToCause(lastErrorCode);
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
