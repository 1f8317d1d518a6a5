import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { DeliveryMessage, OutgoingMessage } from '../../../functions/domain/delivery.ts';
import type { Turn } from '../../../functions/engine/endpoint-turns.ts';
import { ATTEMPTS_PER_ORGANIZATION } from '../../../functions/engine/process-delivery-messages.ts';
import { anEndpoint, anEvent, later, NOW, seconds } from '../../builders.ts';
import { aDispatch } from './a-dispatch.ts';
import { aDispatcher, DELETED, messagesFor } from './a-dispatcher.ts';
import { aService } from './a-service.ts';

/** Messages of an endpoint with a limit, and a dispatcher with a turn for each. */
function aLimitedBatch(turns: (messages: readonly DeliveryMessage[]) => Turn[], count: number) {
  const endpoint = anEndpoint({ maxPerSecond: 5 });
  const other = anEndpoint();
  const endpoints = new Map([endpoint, other].map((one) => [one.id as string, one]));
  const messages = messagesFor(count, endpoint);
  const others = messagesFor(1, other);
  const asked: DeliveryMessage[] = [];
  const waits: { ms: number; end: () => void }[] = [];
  const sent: OutgoingMessage[] = [];
  let refused = 0;
  const dispatcher = aDispatcher(() => DELETED, {
    contexts:
      async () =>
      ({ webhookId }) => ({ endpoint: endpoints.get(webhookId), event: anEvent() }),
    async turns(limited) {
      const own = limited.map(({ message }) => message);
      asked.push(...own);
      const given = turns(own);
      return new Map(own.map((message, index) => [message, given[index] as Turn]));
    },
    wait: (ms) => new Promise<void>((resolve) => waits.push({ ms, end: resolve })),
    queues: {
      async send(_lane, outgoing) {
        sent.push(...outgoing);
        return outgoing.slice(0, refused).map(({ message }) => message);
      },
      hide: async () => undefined,
    },
  });
  return {
    ...dispatcher,
    messages,
    others,
    asked,
    waits,
    sent,
    refuse: (most: number) => {
      refused = most;
    },
  };
}

const waited = { since: NOW.getTime() };
const until = later(NOW, seconds(7));

describe('message for an endpoint with a limit', () => {
  it('is attempted at its start, which holds up no message of another endpoint', async () => {
    const start = (ms: number): Turn => ({ kind: 'start', at: NOW.getTime() + ms });
    const { run, messages, others, waits, dealt, asked } = aLimitedBatch(
      () => [start(-50), start(150), start(350)],
      3,
    );
    const done = run('fresh', [...messages, ...others]);
    await turn();

    expect(asked).toEqual(messages.map(({ message }) => message));
    expect(dealt).toHaveLength(2);
    expect(dealt).toContain(others[0]?.message);
    expect(waits.map(({ ms }) => ms)).toEqual([150, 350]);
    for (const { end } of waits) end();
    expect(await done).toEqual([]);
    expect(dealt).toHaveLength(4);
  });

  it('does not wait for attempts of its organization: the limit spreads them', async () => {
    const count = ATTEMPTS_PER_ORGANIZATION + 3;
    const { run, messages, waits } = aLimitedBatch(
      (own) => own.map(() => ({ kind: 'start', at: NOW.getTime() + 1 })),
      count,
    );
    const done = run('fresh', messages);
    await turn();
    expect(waits).toHaveLength(count);
    for (const { end } of waits) end();
    expect(await done).toEqual([]);
  });

  it('is replaced by one that arrives at its place in line, in one request with the others', async () => {
    const { run, messages, sent, dealt, refuse } = aLimitedBatch(
      (own) => own.map((message) => ({ kind: 'queue', message: { ...message, waited }, until })),
      3,
    );
    expect(await run('retry', messages)).toEqual([]);
    expect(sent).toMatchObject(messages.map(({ message }) => ({ message: { ...message, waited }, until })));
    expect(dealt).toEqual([]);

    refuse(1);
    expect(await run('retry', messages)).toEqual([messages[0]]);
  });

  it.each([
    ['its queue', { kind: 'keep', until } as const, 'retry'],
    ['another queue', { kind: 'move', lane: 'slow', until } as const, 'slow'],
  ])('waits in %s for its next attempt as if it had not waited for its turn', async (_, next, lane) => {
    const sent: unknown[] = [];
    const { run } = aDispatcher(() => next, {
      contexts: async () => () => ({ endpoint: anEndpoint({ maxPerSecond: 1 }), event: anEvent() }),
      turns: async (some) => new Map(some.map(({ message }) => [message, { kind: 'start', at: 0 }])),
      queues: {
        async send(to, outgoing) {
          sent.push(...outgoing.map((one) => ({ to, ...one })));
          return [];
        },
        hide: async () => undefined,
      },
    });
    const [received] = messagesFor(1);
    if (received === undefined) throw new Error('a message was to be made');
    const message = { ...received.message, waited };

    expect(await run('retry', [{ ...received, message }])).toEqual([]);
    expect(sent).toEqual([{ to: lane, message: received.message, until }]);
  });

  it('stays in its queue without an attempt when its turn cannot be determined', async () => {
    const { run, messages, others, dealt, log } = aLimitedBatch(
      () => [
        { kind: 'failed', error: new Error('the table throttles') },
        { kind: 'start', at: 0 },
      ],
      2,
    );
    expect(await run('fresh', [...messages, ...others])).toEqual([messages[0]]);
    expect(dealt).toHaveLength(2);
    expect(log.entries).toMatchObject([{ code: 'DELIVERY_LEFT' }]);
  });

  it.each([
    ['is disabled', { status: 'auto_disabled' as const }],
    ['has no limit', { maxPerSecond: undefined }],
  ])('asks for no turn when the endpoint %s', async (_, changes) => {
    let asked = 0;
    const { run } = aDispatcher(() => DELETED, {
      contexts: async () => () => ({
        endpoint: anEndpoint({ maxPerSecond: 1, ...changes }),
        event: anEvent(),
      }),
      async turns() {
        asked += 1;
        return new Map();
      },
    });
    await run('fresh', messagesFor(3));
    expect(asked).toBe(0);
  });
});

it('an attempt at an endpoint with a limit is never late, because the customer set the limit', async () => {
  const { receive, clock, measured } = await aDispatch({ endpoint: { maxPerSecond: 1 } });
  clock.elapse(3600);
  await receive('fresh');
  expect(measured).toEqual([{ outcome: 'succeeded', parked: false, lateMs: 0 }]);
});

it('retries, tests and resumed deliveries keep to the limit, and all end', async () => {
  const starts: number[] = [];
  const { clock, publish, pass, deliveries } = aService({
    endpoints: [{ maxPerSecond: 1 }],
    attempt: async ({ attempts }) => {
      starts.push(clock.ms);
      return attempts === 1 ? { status: 500, error: 'the receiver answered 500' } : { status: 204 };
    },
  });
  // Longer than messages wait in queues, half of it retries.
  for (let count = 0; count < 400; count += 1) await publish();
  // Messages are received every 5 s only, which leaves many starts unused.
  await pass(60);

  expect(new Set(deliveries.every.map(({ status }) => status))).toEqual(new Set(['succeeded']));
  expect(starts).toHaveLength(800);
  for (const [index, ms] of starts.entries())
    if (index >= 2) expect(ms - (starts[index - 2] ?? 0)).toBeGreaterThanOrEqual(1000);
});
