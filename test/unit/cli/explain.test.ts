import { plain } from 'terminal/paint.ts';
import { expect, it } from 'vitest';
import {
  type EventDetails,
  explainEvent,
  renderExplanation,
} from '../../../packages/cli/src/events/explain.ts';

type Delivery = EventDetails['deliveries'][number];

const AT = '2026-11-23T14:26:39.873Z';
const aDelivery = (changed: Partial<Delivery>) =>
  ({
    ...{ webhookId: 'whk_1', channelId: null, url: 'https://a.example/', status: 'succeeded', attempts: 2 },
    ...{ nextRetryAt: null, nextRetryReason: null, terminalAt: AT, terminalReason: null },
    ...{ lastError: null, lastErrorCode: null, lastResponseStatus: 200 },
    ...changed,
  }) as Delivery;
const absent = (reason: string) =>
  ({ webhookId: 'whk_1', url: 'https://a.example/', receiverStatus: 'active', reason }) as never;
const explain = (deliveries: Partial<Delivery>[], undelivered: never[] = []) =>
  explainEvent(
    { deliveries: deliveries.map(aDelivery), undelivered } as unknown as EventDetails,
    'https://api.example',
  );

const FAILED = { lastError: 'timed out after 10 s', lastErrorCode: 'timeout' } as const;
const SKIPPED = { status: 'skipped', attempts: 0 } as const;
const FAILURE =
  'attempt 2 failed (timeout: timed out after 10 s, see https://api.example/api/docs#cause-timeout)';

it.each<[reason: string, text: string, deliveries: Partial<Delivery>[], undelivered?: never[]]>([
  ['succeeded', `received it: attempt 2 was answered 200 at ${AT}.`, [{}]],
  [
    'sandbox_simulated',
    'received it: its simulated receiver accepted it, and nothing left the service.',
    [{ terminalReason: 'sandbox_simulated' }],
  ],
  [
    'pending',
    `has not received it yet: its first attempt is due at ${AT}.`,
    [{ status: 'pending', nextRetryAt: AT }],
  ],
  ['pending', 'has not received it yet: its first attempt is in progress.', [{ status: 'pending' }]],
  [
    'timeout',
    `has not received it yet: ${FAILURE}; the next one is due at ${AT}.`,
    [{ status: 'retrying', nextRetryAt: AT, ...FAILED }],
  ],
  [
    'timeout',
    `has not received it yet: ${FAILURE}; the next one is due at ${AT}, the time that the receiver asked for.`,
    [{ status: 'retrying', nextRetryAt: AT, nextRetryReason: 'retry_after', ...FAILED }],
  ],
  [
    'timeout',
    `did not receive it: ${FAILURE}; no attempt is left.`,
    [{ status: 'exhausted', terminalReason: 'max_attempts', ...FAILED }],
  ],
  [
    'endpoint_paused',
    `did not receive it: ${FAILURE}; it was paused.`,
    [{ ...SKIPPED, attempts: 2, terminalReason: 'endpoint_paused', ...FAILED }],
  ],
  [
    'expired',
    'did not receive it: its delivery was still open after 3 days.',
    [{ ...SKIPPED, terminalReason: 'expired' }],
  ],
  [
    'paused',
    'did not receive it: it was paused at that time.',
    [{ ...SKIPPED, terminalReason: 'endpoint_paused' }],
    [absent('paused')],
  ],
  ['filtered', 'did not receive it: its filter excludes the event.', [], [absent('filtered')]],
  ['a_later_reason', 'did not receive it: a_later_reason.', [], [absent('a_later_reason')]],
  [
    'succeeded',
    `received it: attempt 2 was answered 200 at ${AT}.`,
    [{ ...SKIPPED, terminalReason: 'endpoint_paused' }, {}],
    [absent('paused')],
  ],
])('why says %s: whk_1 %s', (reason, text, deliveries, undelivered) => {
  const explained = explain(deliveries, undelivered);
  expect(explained.map((each) => renderExplanation(each, plain))).toEqual([`whk_1 ${text}`]);
  expect(explained).toMatchObject([{ receiverId: 'whk_1', reason }]);
});
