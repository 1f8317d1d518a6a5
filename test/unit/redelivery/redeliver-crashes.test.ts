import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveJobDeliveryId, EndpointId, type EventId, newId } from '../../../functions/aws/ids.ts';
import type { DeliveryStatus } from '../../../functions/delivery/delivery.ts';
import { fanOut } from '../../../functions/delivery/fan-out.ts';
import type { OutboxEvent } from '../../../functions/events/events.ts';
import type { RedeliveryJob } from '../../../functions/redelivery/jobs.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { casesOf } from '../../support/cases.ts';
import {
  aRedelivery,
  GRACE_SECONDS,
  LEASE_SECONDS,
  ROUND_SECONDS,
  SHORTEST_ROUND,
  type TestRedelivery,
} from './redelivery-fixture.ts';

/** A delivery of the last hour: how it ended, and whether its event failed again later. */
const past = fc.record({
  status: fc.constantFrom<DeliveryStatus>('exhausted', 'skipped', 'succeeded', 'retrying'),
  secondsAgo: fc.integer({ min: 1, max: 3599 }),
  again: fc.option(fc.integer({ min: 1, max: 3000 }), { nil: undefined }),
});
type Past = typeof past extends fc.Arbitrary<infer P> ? P : never;
const FAILED: Past = { status: 'exhausted', secondsAgo: 1, again: undefined };

/** Stores the deliveries. @returns the events that a job has to resend */
async function lived({ had }: TestRedelivery, history: readonly Past[]): Promise<Set<EventId>> {
  const eventIds = new Set<EventId>();
  for (const { status, secondsAgo, again } of history) {
    const { eventId, webhookId } = await had(status, secondsAgo);
    if (status === 'exhausted' || status === 'skipped') eventIds.add(eventId);
    if (again === undefined) continue;
    const id = deriveJobDeliveryId(eventId, webhookId, later(NOW, -seconds(Math.min(again, secondsAgo)) + 1));
    await had('exhausted', 0, { eventId, id });
    eventIds.add(eventId);
  }
  return eventIds;
}

/**
 * Checks the state after a job has ended, independent of which worker ended it and how often it was tried.
 */
async function expectDone(
  { made, job, runs, reminded }: TestRedelivery,
  order: RedeliveryJob,
  eventIds: ReadonlySet<EventId>,
  history: readonly Past[],
) {
  const deliveries = await made(order);
  expect(deliveries.map(({ eventId }) => eventId).toSorted()).toEqual([...eventIds].toSorted());
  const ids = new Set(reminded.map(({ id }) => id));
  expect(deliveries.filter(({ id }) => !ids.has(id))).toEqual([]);
  const examined = history.length + history.filter(({ again }) => again !== undefined).length;
  expect(await job(order)).toMatchObject({ status: 'done', redelivered: eventIds.size, examined });
  expect(await runs()).toEqual([]);
}

describe('redelivery job whose workers are lost', () => {
  it('creates and counts one delivery for each event, for a loss at any call', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(past, { maxLength: 40 }),
        fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 6 }),
        fc.constantFrom(SHORTEST_ROUND, 1, ROUND_SECONDS),
        fc.constantFrom(1, 3, 16),
        // Seconds of attempts: none, a part of a round, and longer than a round.
        fc.constantFrom(0, 1.5, 11),
        async (history, crashes, roundSeconds, window, attemptSeconds) => {
          const test = aRedelivery({ window });
          if (attemptSeconds > 0) test.attemptsTake(attemptSeconds);
          const expected = await lived(test, history);
          const order = await test.started();
          const left = [...crashes];
          let calls = 0;
          const dying = test.worker(async () => {
            test.clock.elapse(0.05);
            if (left[0] === undefined || calls++ < left[0]) return;
            left.shift();
            calls = 0;
            throw new Error('the worker is lost');
          }, roundSeconds);
          await test.run(dying);
          await expectDone(test, order, expected, history);
        },
      ),
      {
        numRuns: casesOf(25, 300),
        // The last worker to be lost is of an earlier message than the one that comes next.
        examples: [[[FAILED, FAILED, FAILED], [15, 13, 55, 0, 15], SHORTEST_ROUND, 1, 11]],
      },
    );
  });

  it('makes no second delivery of an event that a user has resent alone in between', async () => {
    const test = aRedelivery();
    const failed = await test.had('exhausted', 100);
    const job = await test.started();
    const [message] = test.messages;
    if (message === undefined) throw new Error('there was to be a message');
    test.attemptsTake(60);
    let isSent = false;
    const dying = test.worker(async (call, stage) => {
      if (isSent) throw new Error('the worker is lost');
      isSent = call === 'queues.send' && stage === 'answering';
    });
    await expect(dying(message)).rejects.toThrow('the worker is lost');
    const [own] = await test.made(job);
    await test.exhausts(await test.redelivers(failed));
    test.clock.elapse(LEASE_SECONDS);

    await test.run();

    expect(await test.made(job)).toEqual([expect.objectContaining({ id: own?.id })]);
  });
});

describe('redelivery job whose messages are received several times at once', () => {
  it('is leased by one worker at a time, and has the same result', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(past, { minLength: 5, maxLength: 25 }),
        fc.array(fc.integer({ min: 0, max: LEASE_SECONDS }), { minLength: 3, maxLength: 3 }),
        async (scheduler, history, pauses) => {
          const test = aRedelivery();
          const expected = await lived(test, history);
          const order = await test.started();
          const [message] = test.messages;
          if (message === undefined) throw new Error('there was to be a message');
          const processMessage = test.worker(
            (call, stage) => scheduler.schedule(Promise.resolve(), `${call} ${stage}`),
            SHORTEST_ROUND,
          );
          const running = pauses.map(async (pause) => {
            await scheduler.schedule(Promise.resolve());
            // The lease of another worker may have ended by now.
            test.clock.elapse(pause);
            return processMessage(message).catch(() => undefined);
          });
          await scheduler.waitFor(Promise.all(running));
          test.clock.elapse(LEASE_SECONDS);
          await test.run();
          await expectDone(test, order, expected, history);
        },
      ),
      { numRuns: casesOf(20, 200) },
    );
  });
});

/**
 * A step of a job's run. `dies` is the number of calls after which the process is lost; the call after them
 * may take effect without an answer.
 */
const happening = fc.oneof(
  fc.record({ kind: fc.constantFrom('worker', 'resumer'), dies: fc.integer({ min: 0, max: 40 }) }),
  fc.record({ kind: fc.constant('messages lost') }),
  fc.record({ kind: fc.constant('wait'), seconds: fc.integer({ min: 1, max: 1800 }) }),
);

/** Lets `calls` calls pass, which take their time, and none after them. */
const livingFor = (calls: number, { clock }: TestRedelivery) => {
  let left = calls;
  return async () => {
    clock.elapse(0.05);
    left -= 1;
    if (left < 0) throw new Error('the process is lost');
  };
};

describe('redelivery job whose messages are lost', () => {
  it('ends with the same result, for any loss of other processes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(past, { maxLength: 25 }),
        fc.array(happening, { maxLength: 25 }),
        fc.constantFrom(SHORTEST_ROUND, 1, ROUND_SECONDS),
        async (history, happenings, roundSeconds) => {
          const test = aRedelivery();
          const expected = await lived(test, history);
          const order = await test.started();
          for (const happening of happenings) {
            if (happening.kind === 'messages lost') test.messages.length = 0;
            if ('seconds' in happening) test.clock.elapse(happening.seconds);
            if (!('dies' in happening)) continue;
            if (happening.kind === 'resumer')
              await test
                .resumer(livingFor(happening.dies, test))(() => true)
                .catch(() => undefined);
            const message = happening.kind === 'worker' ? test.messages.shift() : undefined;
            if (message === undefined) continue;
            const processMessage = test.worker(livingFor(happening.dies, test), roundSeconds);
            await processMessage(message).catch(() => test.messages.push(message));
          }
          // From now on nothing is lost.
          test.messages.length = 0;
          test.clock.elapse(GRACE_SECONDS);
          await test.resumer()(() => true);
          await test.run(test.worker(undefined, roundSeconds));
          test.clock.elapse(GRACE_SECONDS);
          await test.resumer()(() => true);
          await test.run(test.worker(undefined, roundSeconds));
          await expectDone(test, order, expected, history);
        },
      ),
      { numRuns: casesOf(25, 300) },
    );
  });
});

const EVENTS = 7;

/** A job for what is missing, whose endpoint has live events that their fan-out has not processed yet. */
async function aStalledFanOut() {
  const test = aRedelivery({ pageSize: 4, window: 2 });
  const own: OutboxEvent[] = [];
  for (let index = 0; index < EVENTS; index += 1) own.push(await test.happened(100 - index));
  const foreign = [
    await test.happened(60, { onlyTo: newId('whk', test.clock.now()) }),
    await test.happened(59, { type: 'ticket.created' }),
  ];
  const job = await test.started({ what: 'missing' });
  /** The ids of deliveries whose messages were sent. */
  const sent = () => new Set(test.reminded.map(({ id }) => id));
  /** The fan-out at last. */
  const fansOut = fanOut({
    subscribers: { all: async () => test.endpoints(), find: async () => undefined },
    deliveries: test.store,
    queues: {
      async send(lane, messages) {
        test.reminded.push(...messages.map(({ message: { id } }) => ({ lane, id })));
        return [];
      },
    },
    organizations: test.organizationStates,
    log: test.log,
    now: test.clock.now,
  });
  return {
    test,
    job,
    async catchUp() {
      expect(await fansOut([...own, ...foreign].map((event) => ({ kind: 'event', event })))).toEqual([]);
    },
    /** The events that an endpoint was or will be sent, and those of all its deliveries. */
    async at(id: RedeliveryJob['webhookId']) {
      const { items } = await test.store.list(test.tenant, id, { limit: 100 });
      expect(items.filter(({ terminalReason }) => terminalReason === 'not_subscribed')).toEqual([]);
      const ownIds = new Set(own.map((event) => event.id));
      expect(items.filter(({ eventId }) => !ownIds.has(eventId))).toEqual([]);
      const open = items.filter((delivery) => delivery.status === 'pending' && sent().has(delivery.id));
      return new Set(open.map(({ eventId }) => eventId)).size;
    },
  };
}

/** What happens in the middle of a job, and what is true after it. */
const HAPPENINGS: Record<
  string,
  {
    act(test: TestRedelivery, job: RedeliveryJob): Promise<unknown>;
    expected(stalled: Awaited<ReturnType<typeof aStalledFanOut>>, result: unknown): Promise<void>;
  }
> = {
  'the loss of its worker': {
    act: async () => {
      throw new Error('the worker is lost');
    },
    async expected({ test, job, at, catchUp }) {
      expect((await test.made(job)).map(({ eventId }) => eventId)).toHaveLength(EVENTS);
      expect(await at(job.webhookId)).toBe(EVENTS);
      expect(await test.job(job)).toMatchObject({ status: 'done', redelivered: EVENTS, examined: EVENTS });
      await catchUp();
      expect(await at(job.webhookId)).toBe(EVENTS);
    },
  },
  'a stop': {
    act: (test, job) => test.commit(test.jobs.stop(job, test.clock.now())),
    async expected({ job, at, catchUp }) {
      await catchUp();
      expect(await at(job.webhookId)).toBe(EVENTS);
    },
  },
  'the disabling of its endpoint, which is registered again': {
    async act(test, { webhookId }) {
      const disabledAt = test.clock.now().toISOString();
      test.becomes({ status: 'auto_disabled', disabledAt });
      const predecessor = { id: EndpointId.parse(webhookId), disabledAt };
      const other = anEndpoint({ ...test.endpoint, id: newId('whk', test.clock.now()), predecessor });
      test.registers(other);
      return test.startedFor(other, { what: 'missing' });
    },
    async expected({ at, catchUp, test }, second) {
      const job = second as RedeliveryJob;
      expect(await at(job.webhookId)).toBe(EVENTS);
      expect(await test.job(job)).toMatchObject({ status: 'done', redelivered: EVENTS });
      await catchUp();
      expect(await at(job.webhookId)).toBe(EVENTS);
    },
  },
  'the deletion of its endpoint': {
    act: async (test) => test.becomes(undefined),
    async expected({ job, at, catchUp, test }) {
      const before = await at(job.webhookId);
      await catchUp();
      expect(await at(job.webhookId)).toBe(before);
      expect(await test.runs()).toEqual([]);
    },
  },
};

describe.each(Object.entries(HAPPENINGS))(
  'redelivery job before a late fan-out and %s',
  (_, { act, expected }) => {
    it('loses no event and sends none to the wrong endpoint, at any step', async () => {
      for (let step = 0, isReached = true; isReached; step += casesOf(3, 1)) {
        const stalled = await aStalledFanOut();
        const { test, job } = stalled;
        let [steps, result]: [number, unknown] = [0, undefined];
        isReached = false;
        const onStep = async () => {
          if (isReached || steps++ < step) return;
          isReached = true;
          result = await act(test, job);
        };
        const worker = test.worker(
          (call) => (/^(queues|rounds)/.test(call) ? onStep() : Promise.resolve()),
          SHORTEST_ROUND,
          onStep,
        );
        await test.run(worker);
        if (!isReached) expect(step).toBeGreaterThan(50);
        else await expected(stalled, result);
      }
    });
  },
);
