import { describe, expect, it } from 'vitest';
import { later, NOW, seconds } from '../../builders.ts';
import { aDispatch, FAILED } from './dispatch-fixture.ts';

const until = later(NOW, seconds(7));

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
      takeTurn: async ({ lane }) => ({ kind: 'wait', disposition: { kind: 'move', lane, until } }),
    });

    expect(await dispatch('retry')).toEqual({ kind: 'move', lane: 'retry', until });
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
