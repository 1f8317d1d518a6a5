import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { timedOutAfter } from '../../../functions/delivery/delivery.ts';
import type { Lane } from '../../../functions/delivery/lanes.ts';
import { type PaceMark, STALLED_SECONDS } from '../../../functions/receivers/pace.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { ATTEMPT_SECONDS, aDispatch, FAILED, OK } from './dispatch-fixture.ts';

const DELETE = { kind: 'delete' };
const TIMED_OUT = timedOutAfter(seconds(ATTEMPT_SECONDS));
const inSeconds = (count: number) => later(NOW, seconds(count));
const mark = (is: 'slow' | 'stalled', count: number): PaceMark => ({
  is,
  until: inSeconds(count).toISOString(),
});
const SLOW = mark('slow', 60);
const STALLED = mark('stalled', 3600);

/** A receiver that answers after so many seconds; one that is slow reports it at once. */
interface Receiver {
  after?: number;
  answer?: typeof OK;
  isSlow?: boolean;
}

async function attemptBy(
  { after = 0, answer = FAILED, isSlow = false }: Receiver,
  lane: Lane,
  pace?: PaceMark,
) {
  const setting = await aDispatch({
    endpoint: pace ? { pace } : {},
    attempt: (_attempt, onSlow) => {
      if (isSlow) onSlow();
      setting.clock.elapse(after);
      return answer;
    },
  });
  return { ...setting, disposition: await setting.dispatch(lane) };
}

describe('retry of a delivery', () => {
  const silent: Receiver = { after: ATTEMPT_SECONDS, answer: TIMED_OUT };

  it.each<[string, lane: Lane, pace: PaceMark | undefined, Receiver, next: Lane]>([
    ['of an endpoint that fails at once', 'fresh', undefined, {}, 'retry'],
    ['of an endpoint that fails after nine seconds', 'fresh', undefined, { after: 9 }, 'retry'],
    ['of a slow endpoint', 'fresh', undefined, { isSlow: true }, 'slow'],
    ['of an endpoint that is still slow', 'slow', undefined, { isSlow: true }, 'slow'],
    ['of an endpoint that is no longer slow', 'slow', mark('slow', -1), {}, 'retry'],
    ['of an endpoint that does not answer', 'fresh', undefined, silent, 'stalled'],
    ['of an endpoint that still does not answer', 'stalled', STALLED, silent, 'stalled'],
    ['of an endpoint that answers again', 'stalled', STALLED, { after: 1 }, 'slow'],
  ])('%s, attempted in the %s queue, waits in the right one', async (_, lane, pace, receiver, next) => {
    const { disposition, readEndpoint } = await attemptBy(receiver, lane, pace);

    const until = inSeconds((receiver.after ?? 0) + 30);
    expect(disposition).toEqual(
      lane === next ? { kind: 'keep', until } : { kind: 'move', lane: next, until },
    );
    expect((await readEndpoint())?.pace?.is === 'stalled').toBe(next === 'stalled');
  });

  it('is watched in the due index while it waits in a queue', async () => {
    const { deliveries, delivery } = await attemptBy({}, 'fresh');
    expect(deliveries.dueOf(delivery)).toMatchObject({ state: 'watched' });
  });

  it('is parked without a message when its wait is long', async () => {
    const { dispatch, readDelivery, deliveries, delivery } = await aDispatch({
      delivery: { status: 'retrying', attempts: 5 },
      attempt: () => FAILED,
    });

    expect(await dispatch('retry')).toEqual(DELETE);

    const dueAt = inSeconds(960).toISOString();
    expect(await readDelivery()).toMatchObject({ status: 'retrying', nextRetryAt: dueAt, parked: true });
    expect(deliveries.dueOf(delivery)).toEqual({ state: 'parked', dueAt });
  });

  it.each<[string, (lane: Lane) => Promise<boolean>]>([
    ['nears its limit of messages in flight', async () => true],
    ['cannot be read', () => Promise.reject(new Error('the queue is down'))],
  ])('is parked when its queue %s', async (_what, crowded) => {
    const { dispatch, deliveries, delivery } = await aDispatch({ crowded, attempt: () => FAILED });

    expect(await dispatch('fresh')).toEqual(DELETE);
    expect(deliveries.dueOf(delivery)).toEqual({ state: 'parked', dueAt: inSeconds(30).toISOString() });
  });

  it('checks the queue that it will wait in, and none after a success', async () => {
    const asked: Lane[] = [];
    const crowded = async (lane: Lane) => {
      asked.push(lane);
      return false;
    };
    for (const answer of [FAILED, OK])
      await (await aDispatch({ crowded, attempt: () => answer })).dispatch('fresh');

    expect(asked).toEqual(['retry']);
  });

  it('deletes a late message of a parked delivery, because the due index has it', async () => {
    const { dispatch, attempts } = await aDispatch({
      delivery: { status: 'retrying', attempts: 6, nextRetryAt: inSeconds(960).toISOString(), parked: true },
    });

    expect(await dispatch('fresh')).toEqual(DELETE);
    expect(attempts).toEqual([]);
  });
});

describe('delivery to a slow or stalled endpoint', () => {
  it.each<[PaceMark, Lane]>([
    [SLOW, 'fresh'],
    [SLOW, 'retry'],
    [STALLED, 'fresh'],
    [STALLED, 'retry'],
    [STALLED, 'slow'],
  ])('moves to its queue before any attempt is counted (%o, from %s)', async (pace, lane) => {
    const { dispatch, delivery, readDelivery, attempts } = await aDispatch({ endpoint: { pace } });

    expect(await dispatch(lane)).toEqual({ kind: 'move', lane: pace.is, until: NOW });

    expect(attempts).toEqual([]);
    expect(await readDelivery()).toEqual(delivery);
  });

  it('is attempted in the slow queue first when a user has resent it', async () => {
    const setting = await aDispatch({
      delivery: { id: newId('dlv', NOW), redeliveryOf: newId('dlv', NOW) },
      endpoint: { pace: STALLED },
      attempt: () => {
        setting.clock.elapse(ATTEMPT_SECONDS);
        return TIMED_OUT;
      },
    });

    expect(await setting.dispatch('fresh')).toEqual({ kind: 'move', lane: 'slow', until: NOW });
    expect(await setting.dispatch('slow')).toMatchObject({ kind: 'move', lane: 'stalled' });
    expect(setting.attempts).toEqual([1]);
  });

  it('moves to the slow queue when only this process knows that the endpoint is slow', async () => {
    const setting = await attemptBy({ isSlow: true }, 'fresh');
    setting.clock.elapse(1);

    // The batch read the endpoint before it was marked.
    const stale = { endpoint: setting.endpoint, event: setting.event };
    expect(await setting.processMessage(setting.deliveryMessage, stale, 'retry')).toMatchObject({
      kind: 'move',
      lane: 'slow',
    });
    expect(setting.attempts).toEqual([1]);
  });

  it('does not count as late in the stalled queue, since it has waited for a batching window', async () => {
    const waited = await attemptBy({ answer: OK }, 'stalled', STALLED);
    const fresh = await attemptBy({ answer: OK }, 'fresh');

    expect(waited.measured).toMatchObject([{ sinceCommitMs: { first: false } }]);
    expect(fresh.measured).toMatchObject([{ sinceCommitMs: { first: true } }]);
  });
});

describe('mark of an endpoint after an attempt', () => {
  it.each([
    ['ended by a success', OK, undefined],
    ['ended by a failure', FAILED, undefined],
    ['kept by a timeout', TIMED_OUT, { is: 'new' }],
  ])('is, for a new endpoint, %s in the slow queue', async (_, answer, pace) => {
    const { readEndpoint } = await attemptBy({ answer }, 'slow', { is: 'new' });
    expect((await readEndpoint())?.pace).toEqual(pace);
  });

  it('is stalled for an hour from the deadline', async () => {
    const { readEndpoint, clock } = await attemptBy({ after: ATTEMPT_SECONDS, answer: TIMED_OUT }, 'fresh');
    const until = later(clock.now(), seconds(STALLED_SECONDS)).toISOString();
    expect((await readEndpoint())?.pace).toEqual({ is: 'stalled', until });
  });

  it('is written before the worker ends', async () => {
    const { dispatch, endpoints, readEndpoint } = await aDispatch({
      attempt: (_attempt, onSlow) => {
        onSlow();
        return OK;
      },
    });
    endpoints.service.pass = async (operation, input, answer) => {
      if (operation === 'Update' && input.TableName === 'service') await turn();
      return answer();
    };

    await dispatch('fresh');

    expect((await readEndpoint())?.pace).toEqual(mark('slow', 120));
  });
});
