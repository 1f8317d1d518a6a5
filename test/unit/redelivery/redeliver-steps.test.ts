import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { fanOut } from '../../../functions/delivery/fan-out.ts';
import type { OutboxEvent } from '../../../functions/events/events.ts';
import type { RedeliveryJob } from '../../../functions/redelivery/jobs.ts';
import { anEndpoint } from '../../builders.ts';
import { aRedelivery, SHORTEST_ROUND, type TestRedelivery } from '../delivery/a-redelivery.ts';

const EVENTS = 7;

/** A job for what is missing, whose endpoint has live events that their fan-out has not processed yet. */
async function aStalledFanOut() {
  const test = aRedelivery({ pageEvents: 4, window: 2 });
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
      const predecessor = { id: webhookId, disabledAt };
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
      for (let step = 0, isReached = true; isReached; step += 1) {
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
