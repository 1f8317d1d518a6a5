import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InvocationResult } from '../../../src/functions/sandbox.ts';
import type { StreamEvent } from '../../../src/sources/stream-batches.ts';
import { type WindowedOptions, windowedConsumer } from '../../../src/sources/windowed-batches.ts';
import { aStreamRecord, numbersOf } from './stream-records.ts';

const failed: InvocationResult = { payload: { errorType: 'Error' }, functionError: 'Unhandled' };
const at = (number: number, seconds: number) => aStreamRecord(number, 'a', seconds);

/** Adds the numbers of the records to the state. */
const collect = ({ Records, state }: StreamEvent): InvocationResult => {
  const before = typeof state === 'object' && state !== null && 'seen' in state ? state.seen : [];
  return { payload: { state: { seen: [...(Array.isArray(before) ? before : []), ...numbersOf(Records)] } } };
};

function aConsumer(options: Partial<WindowedOptions> = {}) {
  const events: StreamEvent[] = [];
  const checkpoints: string[] = [];
  const stopping = new AbortController();
  const { invoke = async (event) => collect(event), ...others } = options;
  const consumer = windowedConsumer(
    {
      batchSize: 2,
      windowSeconds: 60,
      shardId: 's1',
      streamArn: 'arn:stream',
      policy: {
        maximumRetryAttempts: 1,
        maximumRecordAgeSeconds: -1,
        bisectOnError: false,
        reportsItemFailures: true,
      },
      checkpoint: (position) => void checkpoints.push(position),
      discard: async () => undefined,
      log: () => undefined,
      invoke: (event) => {
        events.push(event);
        return invoke(event);
      },
      ...others,
    },
    stopping.signal,
  );
  const shown = () =>
    events.map(({ Records, state, isFinalInvokeForWindow, isWindowTerminatedEarly }) => [
      numbersOf(Records),
      state,
      [isFinalInvokeForWindow && 'final', isWindowTerminatedEarly && 'early'].find(Boolean) ?? '',
    ]);
  return { events, checkpoints, consumer, shown, stopping };
}

describe('a mapping with a tumbling window', () => {
  it('passes the window, the shard and the stream to the function', async () => {
    const { consumer, events } = aConsumer();
    await consumer.take([at(1, 1_596_128_401)], '1');
    expect(events).toEqual([
      {
        Records: [at(1, 1_596_128_401)],
        window: { start: '2020-07-30T17:00:00Z', end: '2020-07-30T17:01:00Z' },
        state: {},
        shardId: 's1',
        eventSourceARN: 'arn:stream',
        isFinalInvokeForWindow: false,
        isWindowTerminatedEarly: false,
      },
    ]);
  });

  it('passes the state from batch to batch, and drops it at the end of the window', async () => {
    const { consumer, shown } = aConsumer();
    await consumer.take([at(1, 0), at(2, 0), at(3, 1)], '3');
    await consumer.take([at(4, 59), at(5, 60)], '5');
    expect(shown()).toEqual([
      [[1, 2], {}, ''],
      [[3], { seen: [1, 2] }, ''],
      [[4], { seen: [1, 2, 3] }, ''],
      [[], { seen: [1, 2, 3, 4] }, 'final'],
      [[5], {}, ''],
    ]);
  });

  it('closes the window when its time is over, without new records', async () => {
    const { consumer, shown, checkpoints } = aConsumer();
    await consumer.take([at(1, 0)], '1');
    await consumer.rest(false, 60_999);
    expect(shown()).toHaveLength(1);
    await consumer.rest(false, 61_000);
    await consumer.rest(false, 70_000);
    expect(shown().slice(1)).toEqual([[[], { seen: [1] }, 'final']]);
    expect(checkpoints).toEqual(['1']);
  });

  it('takes records once each and in order, in windows from the epoch on that only advance, however they are read', async () => {
    const times = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(times, fc.integer({ min: 1, max: 90 }), fc.nat(40), async (seconds, length, cut) => {
        const { consumer, events } = aConsumer({ windowSeconds: length });
        const given = seconds.map((second, number) => at(number, second));
        await consumer.take(given.slice(0, cut), 'a');
        await consumer.take(given.slice(cut), 'b');
        expect(events.flatMap(({ Records }) => numbersOf(Records))).toEqual(given.map((_, number) => number));
        const starts = events.map(({ window }) => Date.parse(window?.start ?? '') / 1000);
        for (const [index, start] of starts.entries()) {
          expect(start % length).toBe(0);
          expect(Date.parse(events[index]?.window?.end ?? '') / 1000).toBe(start + length);
          const isClosed = events[index - 1]?.isFinalInvokeForWindow;
          if (index > 0 && isClosed) expect(start).toBeGreaterThan(starts[index - 1] ?? 0);
          else if (index > 0) expect(start).toBe(starts[index - 1]);
        }
      }),
    );
  });

  it('closes the window with its shard', async () => {
    const { consumer, shown } = aConsumer();
    await consumer.take([at(1, 0)], '1');
    await consumer.rest(true, 1_000);
    expect(shown().at(-1)).toEqual([[], { seen: [1] }, 'final']);
  });

  it('moves its checkpoint to the end of the previous window, and past filtered records', async () => {
    const { consumer, checkpoints } = aConsumer();
    await consumer.take([], '7');
    expect(checkpoints).toEqual(['7']);
    await consumer.take([at(8, 0), at(9, 60)], '10');
    expect(checkpoints).toEqual(['7', '8']);
    await consumer.take([], '12');
    await consumer.take([at(13, 120)], '13');
    expect(checkpoints).toEqual(['7', '8', '12']);
  });

  it('repeats a batch with the previous state', async () => {
    let failures = 1;
    const { consumer, shown } = aConsumer({
      invoke: async (event) => {
        failures -= 1;
        return failures >= 0 ? { payload: { batchItemFailures: [] } } : collect(event);
      },
    });
    expect(await consumer.take([at(1, 0)], '1')).toBe(true);
    expect(shown()).toEqual([
      [[1], {}, ''],
      [[1], {}, ''],
    ]);
  });

  it('continues the window after records that were given up', async () => {
    const discarded: number[][] = [];
    const { consumer, shown } = aConsumer({
      invoke: async (event) => (numbersOf(event.Records).includes(2) ? failed : collect(event)),
      batchSize: 1,
      discard: async ({ records }) => void discarded.push(numbersOf(records)),
    });
    await consumer.take([at(1, 0), at(2, 0), at(3, 0)], '3');
    expect(discarded).toEqual([[2]]);
    expect(shown().at(-1)).toEqual([[3], { seen: [1] }, '']);
  });

  it('waits until the end of a window has succeeded, however often that fails', async () => {
    let failures = 3;
    const { consumer, shown, checkpoints } = aConsumer({
      invoke: async (event) => {
        if (!event.isFinalInvokeForWindow) return collect(event);
        failures -= 1;
        return failures >= 0 ? failed : collect(event);
      },
    });
    await consumer.take([at(1, 0), at(2, 60)], '2');
    expect(shown().map(([, , kind]) => kind)).toEqual(['', 'final', 'final', 'final', 'final', '']);
    expect(checkpoints).toEqual(['1']);
  });

  it('ends a state of more than a megabyte early, and continues the window with a new one', async () => {
    const large = 'x'.repeat(1_048_577);
    const { consumer, shown } = aConsumer({
      invoke: async (event) =>
        event.Records.length > 0 && numbersOf(event.Records)[0] === 1
          ? { payload: { state: large } }
          : { payload: { state: event.state } },
    });
    await consumer.take([at(1, 0)], '1');
    await consumer.take([at(2, 0)], '2');
    expect(shown()).toEqual([
      [[1], {}, ''],
      [[], large, 'early'],
      [[2], {}, ''],
    ]);
  });

  it('reads its records again when the run stops before the window is closed', async () => {
    const { consumer, checkpoints, stopping } = aConsumer({
      invoke: async (event) => {
        if (event.isFinalInvokeForWindow) stopping.abort();
        return event.isFinalInvokeForWindow ? failed : collect(event);
      },
    });
    expect(await consumer.take([at(1, 0), at(2, 60)], '2')).toBe(false);
    expect(checkpoints).toEqual([]);
  });
});
