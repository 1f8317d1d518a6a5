import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { timedOutAfter } from '../../../functions/delivery/delivery.ts';
import type { Lane } from '../../../functions/delivery/lanes.ts';
import type { PaceMark } from '../../../functions/receivers/pace.ts';
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

describe('message for an endpoint with a limit', () => {
  it('is attempted at its start, when all that the attempt needs is there', async () => {
    const steps: string[] = [];
    const { dispatch, attempts } = await aDispatch({
      endpoint: { maxPerSecond: 5 },
      prepare: async () => void steps.push('prepared'),
      takeTurn: async () => {
        steps.push('turn taken');
        return { kind: 'start', at: NOW.getTime() + 150, attempts: 0 };
      },
      wait: async (time) => void steps.push(`waited ${time} s`),
      attempt: () => {
        steps.push('attempted');
        return FAILED;
      },
    });
    await dispatch();

    expect(steps).toEqual(['prepared', 'turn taken', 'waited 0.15 s', 'attempted']);
    expect(attempts).toEqual([1]);
  });

  it('does what its turn says, without an attempt', async () => {
    const { dispatch, attempts, readDelivery } = await aDispatch({
      endpoint: { maxPerSecond: 5 },
      takeTurn: async ({ lane }) => ({
        kind: 'wait',
        disposition: { kind: 'move', lane, until: inSeconds(7) },
      }),
    });

    expect(await dispatch('retry')).toEqual({ kind: 'move', lane: 'retry', until: inSeconds(7) });
    expect(attempts).toEqual([]);
    expect(await readDelivery()).toMatchObject({ attempts: 0 });
  });

  it('takes no turn in a queue that it leaves', async () => {
    const { dispatch, turnsTaken } = await aDispatch({ endpoint: { maxPerSecond: 1, pace: { is: 'new' } } });

    expect(await dispatch('fresh')).toMatchObject({ kind: 'move', lane: 'slow' });
    expect(turnsTaken()).toBe(0);
  });

  it('is not attempted with the turn of an attempt that was started meanwhile', async () => {
    const { dispatch, attempts, readDelivery } = await aDispatch({
      endpoint: { maxPerSecond: 5 },
      delivery: { attempts: 1, status: 'retrying' },
      takeTurn: async () => ({ kind: 'start', at: NOW.getTime(), attempts: 0 }),
    });

    expect(await dispatch('retry')).toEqual({ kind: 'keep', until: NOW });
    expect(attempts).toEqual([]);
    expect(await readDelivery()).toMatchObject({ status: 'retrying', attempts: 1 });
  });

  it('stays in its queue without an attempt when its turn cannot be determined', async () => {
    const { receive, attempts, log, readDelivery } = await aDispatch({
      endpoint: { maxPerSecond: 1 },
      takeTurn: async () => {
        throw new Error('the table throttles');
      },
    });

    expect(await receive('fresh')).toBe('stays');
    expect(attempts).toEqual([]);
    expect(await readDelivery()).toMatchObject({ attempts: 0 });
    expect(log.entries).toMatchObject([{ code: 'DELIVERY_LEFT' }]);
  });

  it.each([
    ['is disabled', { status: 'auto_disabled' as const, maxPerSecond: 1 }],
    ['has no limit', {}],
  ])('takes no turn when the endpoint %s', async (_, endpoint) => {
    const { dispatch, turnsTaken } = await aDispatch({ endpoint });
    await dispatch();
    expect(turnsTaken()).toBe(0);
  });
});

it('an attempt at an endpoint with a limit is never late, because the customer set the limit', async () => {
  const { receive, clock, measured } = await aDispatch({ endpoint: { maxPerSecond: 1 } });
  clock.elapse(3600);
  await receive('fresh');
  expect(measured).toEqual([{ outcome: 'succeeded', parked: false, lateMs: 0 }]);
});

const MINUTE = 60_000;

/** A time in milliseconds after the creation of event and delivery. */
const at = (ms: number) => new Date(NOW.getTime() + ms).toISOString();

describe('metrics of an attempt', () => {
  it("are the time from the event's commit to the attempt's start and end, and its lateness", async () => {
    const setting = await aDispatch({
      attempt: () => {
        setting.clock.elapse(0.07);
        return OK;
      },
    });
    setting.clock.elapse(0.3);

    await setting.dispatch('fresh');

    expect(setting.measured).toEqual([
      {
        outcome: 'succeeded',
        parked: false,
        lateMs: 300,
        sinceCommitMs: { first: true, begun: 300, ended: 370 },
      },
    ]);
  });

  it('measure the lateness of a retry from its own due time', async () => {
    const setting = await aDispatch({
      delivery: { attempts: 1, status: 'retrying', nextRetryAt: at(MINUTE) },
    });
    setting.clock.elapse(60.025);

    await setting.dispatch('retry');

    expect(setting.measured).toMatchObject([
      { outcome: 'succeeded', lateMs: 25, sinceCommitMs: { first: false, ended: MINUTE + 25 } },
    ]);
  });

  it.each([
    { case: 'a redelivery', delivery: { id: newId('dlv', NOW) } },
    { case: 'a delivery of a sandbox', sandbox: true },
  ])('omit the time since the commit for $case', async ({ case: _, ...changes }) => {
    const { dispatch, measured } = await aDispatch(changes);
    await dispatch();
    expect(measured).toEqual([{ outcome: 'succeeded', parked: false, lateMs: 0 }]);
  });

  it.each([
    { attempts: 0, crowded: false, outcome: 'retrying', parked: false },
    { attempts: 0, crowded: true, outcome: 'retrying', parked: true },
    { attempts: 6, crowded: false, outcome: 'retrying', parked: true },
    { attempts: 7, crowded: true, outcome: 'exhausted', parked: false },
  ])(
    'report the failure after $attempts earlier attempts in a queue whose being crowded is $crowded',
    async (row) => {
      const { dispatch, measured } = await aDispatch({
        delivery: { attempts: row.attempts },
        attempt: () => FAILED,
        crowded: async () => row.crowded,
      });
      await dispatch();
      expect(measured).toMatchObject([{ outcome: row.outcome, parked: row.parked }]);
    },
  );

  it('are omitted when the lease was over before the attempt ended', async () => {
    const setting = await aDispatch({
      attempt: () => {
        setting.clock.elapse(60);
        return OK;
      },
    });
    await setting.dispatch();
    expect(setting.measured).toEqual([]);
    expect(setting.log.entries).toMatchObject([{ code: 'ATTEMPT_OUTLIVED' }]);
  });
});

it('the metrics count a disabled endpoint once', async () => {
  const { dispatch, disablings } = await aDispatch({
    delivery: { attempts: 7 },
    endpoint: { consecutiveFailures: 9 },
    attempt: () => FAILED,
  });
  await dispatch();
  expect(disablings()).toBe(1);
});
