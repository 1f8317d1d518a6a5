import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { timedOutAfter } from '../../../functions/delivery/delivery.ts';
import type { Lane } from '../../../functions/delivery/lanes.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { aDispatch, FAILED, OK } from './dispatch-fixture.ts';

const DELETE = { kind: 'delete' };
const inSeconds = (count: number) => later(NOW, seconds(count));
const slowFor = (count: number) => ({
  pace: { is: 'slow' as const, until: inSeconds(count).toISOString() },
});

describe('retry of a delivery', () => {
  it('waits in the retry queue after a failure in the fresh queue', async () => {
    const { dispatch, deliveries, delivery } = await aDispatch({ attempt: () => FAILED });

    expect(await dispatch('fresh')).toEqual({ kind: 'move', lane: 'retry', until: inSeconds(30) });
    expect(deliveries.dueOf(delivery)).toMatchObject({ state: 'watched' });
  });

  it('stays in the retry queue after a failure there', async () => {
    const { dispatch } = await aDispatch({ attempt: () => FAILED });

    expect(await dispatch('retry')).toEqual({ kind: 'keep', until: inSeconds(30) });
  });

  it('waits in the slow queue when its endpoint is slow', async () => {
    const slowly = (_attempt: number, onSlow: () => void) => {
      onSlow();
      return FAILED;
    };
    const fresh = await aDispatch({ attempt: slowly });
    const slow = await aDispatch({ attempt: slowly });

    expect(await fresh.dispatch('fresh')).toEqual({ kind: 'move', lane: 'slow', until: inSeconds(30) });
    expect(await slow.dispatch('slow')).toEqual({ kind: 'keep', until: inSeconds(30) });
  });

  it('leaves the slow queue when its endpoint is no longer slow', async () => {
    const { dispatch } = await aDispatch({ endpoint: slowFor(-1), attempt: () => FAILED });

    expect(await dispatch('slow')).toEqual({ kind: 'move', lane: 'retry', until: inSeconds(30) });
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
    [
      'cannot be read',
      async () => {
        throw new Error('the queue is down');
      },
    ],
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
    const failing = await aDispatch({ crowded, attempt: () => FAILED });
    const accepting = await aDispatch({ crowded, attempt: () => OK });

    await failing.dispatch('fresh');
    await accepting.dispatch('fresh');

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

describe('delivery to a slow endpoint', () => {
  it.each(['fresh', 'retry'] as const)(
    'moves from the %s queue to the slow one before any attempt is counted',
    async (lane) => {
      const { dispatch, delivery, readDelivery, attempts } = await aDispatch({ endpoint: slowFor(60) });

      expect(await dispatch(lane)).toEqual({ kind: 'move', lane: 'slow', until: NOW });

      expect(attempts).toEqual([]);
      expect(await readDelivery()).toEqual(delivery);
    },
  );

  it('is attempted in the slow queue', async () => {
    const { dispatch, readDelivery } = await aDispatch({ endpoint: slowFor(60) });

    expect(await dispatch('slow')).toEqual(DELETE);
    expect(await readDelivery()).toMatchObject({ status: 'succeeded' });
  });

  it('moves to the slow queue when only this process knows that the endpoint is slow', async () => {
    const setting = await aDispatch({
      attempt: (_attempt, onSlow) => {
        onSlow();
        return FAILED;
      },
    });
    await setting.dispatch('fresh');
    setting.clock.elapse(1);

    // The batch read the endpoint before it was marked.
    const stale = { endpoint: setting.endpoint, event: setting.event };
    expect(await setting.processMessage(setting.deliveryMessage, stale, 'retry')).toMatchObject({
      kind: 'move',
      lane: 'slow',
    });
    expect(setting.attempts).toEqual([1]);
  });

  it('proves the endpoint by any fast answer in the slow queue, but not by a timeout', async () => {
    const accepting = await aDispatch({ endpoint: { pace: { is: 'new' } }, attempt: () => OK });
    const failing = await aDispatch({ endpoint: { pace: { is: 'new' } }, attempt: () => FAILED });
    const silent = await aDispatch({
      endpoint: { pace: { is: 'new' } },
      attempt: () => timedOutAfter(10_000),
    });
    for (const { dispatch } of [accepting, failing, silent]) await dispatch('slow');

    expect(await accepting.readEndpoint()).not.toHaveProperty('pace');
    expect(await failing.readEndpoint()).not.toHaveProperty('pace');
    expect(await silent.readEndpoint()).toMatchObject({ pace: { is: 'new' } });
  });

  it('is skipped rather than moved when the endpoint is disabled', async () => {
    const { dispatch, readDelivery } = await aDispatch({
      endpoint: { status: 'auto_disabled', ...slowFor(60) },
    });

    expect(await dispatch('fresh')).toEqual(DELETE);
    expect(await readDelivery()).toMatchObject({ status: 'skipped', terminalReason: 'endpoint_disabled' });
  });

  it('marks the endpoint before the worker ends', async () => {
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

    expect(await readEndpoint()).toMatchObject({
      pace: { is: 'slow', until: inSeconds(120).toISOString() },
    });
  });
});
