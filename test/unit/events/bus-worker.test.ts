import { describe, expect, it } from 'vitest';
import { InvocationFailed } from '../../../functions/aws/logger.ts';
import { LEFT_IN_QUEUE, UNREADABLE_MESSAGES } from '../../../functions/aws/metrics.ts';
import { BUS_SOURCE, type BusEvent } from '../../../functions/events/bus.ts';
import { busWorker, processEach } from '../../../functions/events/worker.ts';
import { InProgressError } from '../../../functions/http/problem.ts';
import { aBusEvent } from '../../builders.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { busMessage, capturedOutput, received, WITH_TIME } from '../workers/worker-fixture.ts';

const DONE = { batchItemFailures: [] };
const failed = (...numbers: number[]) => ({
  batchItemFailures: numbers.map((number) => ({ itemIdentifier: `message-${number}` })),
});

describe('a worker behind the event bus', () => {
  it('receives the events of all messages at once, as they were put on the bus', async () => {
    const events = [aBusEvent(), aBusEvent({ type: 'source.changed', id: 'not-one-of-ours' })];
    const batches: (readonly BusEvent[])[] = [];
    const handler = busWorker('meter', async (batch) => {
      batches.push(batch);
      return [];
    });

    expect(await handler(received('queue', ...events.map(busMessage)), WITH_TIME)).toEqual(DONE);

    expect(batches).toEqual([events]);
  });

  it('keeps exactly the messages of failed events in the queue in their order, duplicates included', async () => {
    const [first, second] = [aBusEvent(), aBusEvent()];
    const handler = busWorker('meter', async ([, ...others]) =>
      others.reverse().map((event) => ({ event, why: 'failed' })),
    );

    expect(
      await handler(received('queue', busMessage(first), busMessage(second), busMessage(second)), WITH_TIME),
    ).toEqual(failed(2, 3));
  });

  it('counts a batch with failures once, and a batch with deferred events not at all', async () => {
    const output = capturedOutput();
    const handler = busWorker('meter', async ([first, ...others]) => [
      ...(first === undefined ? [] : [{ event: first, why: 'waits' as const }]),
      ...others.map((event) => ({ event, why: 'failed' as const })),
    ]);
    const message = () => busMessage(aBusEvent());

    expect(await handler(received('queue', message()), WITH_TIME)).toEqual(failed(1));
    expect(output.metric(LEFT_IN_QUEUE.meter)).toBeUndefined();

    expect(await handler(received('queue', message(), message(), message()), WITH_TIME)).toEqual(
      failed(1, 2, 3),
    );
    expect(output.metric(LEFT_IN_QUEUE.meter)).toBe(1);
  });

  it('hides the message of an event with its own retry time, and no other', async () => {
    const output = capturedOutput();
    const events = [aBusEvent(), aBusEvent(), aBusEvent()];
    const hidden: [string, number][] = [];
    const handler = busWorker(
      'meter',
      async ([first, second, third]) => {
        return [
          ...(first ? [{ event: first, why: 'waits' as const, inSeconds: 5 }] : []),
          ...(second ? [{ event: second, why: 'waits' as const, inSeconds: 7 }] : []),
          ...(third ? [{ event: third, why: 'waits' as const }] : []),
        ];
      },
      async (receipt, seconds) => {
        hidden.push([receipt, seconds]);
        if (seconds === 7) throw new Error('out of reach');
      },
    );

    expect(await handler(received('queue', ...events.map(busMessage)), WITH_TIME)).toEqual(failed(1, 2, 3));
    expect(hidden).toEqual([
      ['receipt-1', 5],
      ['receipt-2', 7],
    ]);
    expect(output.logged('WARN')).toHaveLength(1);
  });

  it('receives how often the message of an event was received', async () => {
    const messages = received('queue', busMessage(aBusEvent()), busMessage(aBusEvent()));
    for (const [index, record] of messages.Records.entries())
      record.attributes.ApproximateReceiveCount = String(index + 3);
    const counts: number[] = [];
    const handler = busWorker(
      'meter',
      processEach(async (_event, receives) => void counts.push(receives), recordedLog()),
    );
    await handler(messages, WITH_TIME);
    expect(counts).toEqual([3, 4]);
  });

  it.each([
    ['no JSON', '{'],
    ['no event of the service', { source: BUS_SOURCE, 'detail-type': 'x', detail: { id: 7 } }],
    ['no envelope', aBusEvent()],
    ['nothing', 'null'],
  ])('keeps a message that is %s, and counts it', async (_what, body) => {
    const output = capturedOutput();
    const events: BusEvent[] = [];
    const handler = busWorker('meter', async (batch) => {
      events.push(...batch);
      return [];
    });
    const readable = aBusEvent();

    expect(await handler(received('queue', body, busMessage(readable)), WITH_TIME)).toEqual(failed(1));

    expect(events).toEqual([readable]);
    expect(output.metric(UNREADABLE_MESSAGES)).toBe(1);
    expect(output.logged('ERROR')).toHaveLength(1);
  });

  it('fails as a whole, so that SQS redelivers the batch, when processing throws', async () => {
    capturedOutput();
    const handler = busWorker('meter', async () => {
      throw new Error('out of reach');
    });

    await expect(handler(received('queue', busMessage(aBusEvent())), WITH_TIME)).rejects.toThrow(
      InvocationFailed,
    );
  });
});

describe('processing events one by one', () => {
  it('continues after failures, returns them, and logs each', async () => {
    const log = recordedLog();
    const events = [aBusEvent(), aBusEvent(), aBusEvent()];
    const processed: BusEvent[] = [];
    const processEvents = processEach(async (event) => {
      if (event === events[1]) throw new Error('out of reach');
      processed.push(event);
    }, log);

    expect(await processEvents(events)).toEqual([{ event: events[1], why: 'failed' }]);

    expect(processed).toEqual([events[0], events[2]]);
    expect(log.entries).toMatchObject([
      { level: 'error', fields: { eventId: events[1]?.id, error: new Error('out of reach') } },
    ]);
  });

  it('returns an event that another invocation is processing, without counting a failure', async () => {
    const log = recordedLog();
    const event = aBusEvent();
    const processEvents = processEach(async () => {
      throw new InProgressError('a check is in progress');
    }, log);

    expect(await processEvents([event])).toEqual([{ event, why: 'waits' }]);

    expect(log.entries).toMatchObject([{ level: 'info', fields: { eventId: event.id } }]);
  });
});
