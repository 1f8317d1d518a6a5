import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { timedOutAfter } from '../../../functions/delivery/delivery.ts';
import { STALLED_SECONDS } from '../../../functions/receivers/pace.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { ATTEMPT_SECONDS, aDispatch, FAILED, OK } from './dispatch-fixture.ts';

const DELETE = { kind: 'delete' };
const TIMED_OUT = timedOutAfter(10_000);
const inSeconds = (count: number) => later(NOW, seconds(count));
const stalledFor = (count: number) => ({
  pace: { is: 'stalled' as const, until: inSeconds(count).toISOString() },
});

/** A receiver that takes the given seconds for its answer, up to the deadline. */
const takes = (count: number, answer: typeof OK) => (clock: { elapse(seconds: number): void }) => {
  clock.elapse(count);
  return answer;
};

async function attemptedBy(receiver: ReturnType<typeof takes>, lane: 'fresh' | 'stalled', endpoint = {}) {
  const setting = await aDispatch({ endpoint, attempt: () => receiver(setting.clock) });
  return { ...setting, disposition: await setting.dispatch(lane) };
}

describe('attempt that reaches its deadline without an answer', () => {
  it('marks its endpoint, and its delivery waits in the stalled queue', async () => {
    const { disposition, readEndpoint, clock } = await attemptedBy(
      takes(ATTEMPT_SECONDS, TIMED_OUT),
      'fresh',
    );

    expect(disposition).toEqual({ kind: 'move', lane: 'stalled', until: later(clock.now(), seconds(30)) });
    expect(await readEndpoint()).toMatchObject({
      pace: { is: 'stalled', until: later(clock.now(), seconds(STALLED_SECONDS)).toISOString() },
    });
  });

  it('stays in the stalled queue', async () => {
    const { disposition } = await attemptedBy(takes(ATTEMPT_SECONDS, TIMED_OUT), 'stalled', stalledFor(3600));

    expect(disposition).toEqual({ kind: 'keep', until: inSeconds(ATTEMPT_SECONDS + 30) });
  });
});

describe('attempt that is answered in time', () => {
  it.each([
    ['with an error at once', 0, FAILED],
    ['with an error after nine seconds', 9, FAILED],
  ])('%s does not mark its endpoint', async (_what, count, answer) => {
    const { disposition, readEndpoint } = await attemptedBy(takes(count, answer), 'fresh');

    expect(disposition).toMatchObject({ kind: 'move', lane: 'retry' });
    expect((await readEndpoint())?.pace?.is).not.toBe('stalled');
  });

  it('ends the mark of its endpoint', async () => {
    const { disposition, readEndpoint } = await attemptedBy(takes(3, OK), 'stalled', stalledFor(3600));

    expect(disposition).toEqual(DELETE);
    expect((await readEndpoint())?.pace?.is).not.toBe('stalled');
  });

  it('leaves the stalled queue for the slow one after a failure', async () => {
    const { disposition } = await attemptedBy(takes(1, FAILED), 'stalled', stalledFor(3600));

    expect(disposition).toEqual({ kind: 'move', lane: 'slow', until: inSeconds(31) });
  });
});

describe('delivery to a stalled endpoint', () => {
  it.each(['fresh', 'retry', 'slow'] as const)(
    'moves from the %s queue to the stalled one before any attempt is counted',
    async (lane) => {
      const { dispatch, readDelivery, attempts } = await aDispatch({ endpoint: stalledFor(60) });

      expect(await dispatch(lane)).toEqual({ kind: 'move', lane: 'stalled', until: NOW });

      expect(attempts).toEqual([]);
      expect(await readDelivery()).toMatchObject({ status: 'pending', attempts: 0 });
    },
  );

  it('is attempted in the stalled queue, even after the mark has expired', async () => {
    for (const endpoint of [stalledFor(60), stalledFor(-1)]) {
      const { dispatch, readDelivery } = await aDispatch({ endpoint });

      expect(await dispatch('stalled')).toEqual(DELETE);
      expect(await readDelivery()).toMatchObject({ status: 'succeeded' });
    }
  });

  it('is attempted in the slow queue first when a user has resent it', async () => {
    const setting = await aDispatch({
      delivery: { id: newId('dlv', NOW), redeliveryOf: newId('dlv', NOW) },
      endpoint: stalledFor(3600),
      attempt: () => {
        setting.clock.elapse(ATTEMPT_SECONDS);
        return TIMED_OUT;
      },
    });

    expect(await setting.dispatch('fresh')).toEqual({ kind: 'move', lane: 'slow', until: NOW });
    expect(await setting.dispatch('slow')).toMatchObject({ kind: 'move', lane: 'stalled' });
    expect(setting.attempts).toEqual([1]);
  });

  it('does not count as late, since it has waited for a batching window', async () => {
    const [waited, fresh] = await Promise.all([
      attemptedBy(takes(0, OK), 'stalled', stalledFor(60)),
      attemptedBy(takes(0, OK), 'fresh'),
    ]);

    expect(waited.measured).toMatchObject([{ sinceCommitMs: { first: false } }]);
    expect(fresh.measured).toMatchObject([{ sinceCommitMs: { first: true } }]);
  });
});
