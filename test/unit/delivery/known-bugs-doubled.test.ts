import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fanOut } from '../../../functions/delivery/fan-out.ts';
import { anEvent, NOW } from '../../builders.ts';
import { interposed } from '../../doubles/interposed.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { FAILED, OK } from './dispatch-fixture.ts';
import { ours, owing, tenant } from './fan-out-fixture.ts';
import { aService } from './service-fixture.ts';

describe('delivery engine, against known duplicates of other services,', () => {
  it('attempts once although the visibility timeout of the queue is shorter than an attempt', async () => {
    let started = 0;
    const answer = Promise.withResolvers<typeof OK>();
    const { publish, dispatchFrom, clock, deliveries, lanes } = aService({
      visibilitySeconds: 1,
      attempt: () => {
        started += 1;
        return answer.promise;
      },
    });
    await publish();
    const first = dispatchFrom('fresh');
    await turn();
    for (let second = 0; second < 5; second += 1) {
      clock.elapse(2);
      await dispatchFrom('fresh');
    }
    answer.resolve(OK);
    await first;

    expect(started).toBe(1);
    expect(deliveries.every).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
    expect(lanes.deliveryMessages).toEqual([]);
  });

  it('keeps a success although an older attempt fails late', async () => {
    const late = Promise.withResolvers<typeof FAILED>();
    const { publish, pass, dispatchFrom, clock, deliveries, lanes } = aService({
      attempt: (claimed) => (claimed.attempts === 1 ? late.promise : Promise.resolve(OK)),
    });
    await publish();
    const overtaken = dispatchFrom('fresh');
    await turn();
    clock.elapse(60);
    await dispatchFrom('fresh');
    const succeeded = deliveries.every;
    expect(succeeded).toMatchObject([{ status: 'succeeded', attempts: 2 }]);

    late.resolve(FAILED);
    await overtaken;
    await pass(60);

    expect(deliveries.every).toEqual(succeeded);
    expect(lanes.deliveryMessages).toEqual([]);
  });

  it('adds each delivery once in concurrent fan-outs of one event', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 4 }), fc.scheduler(), async (runs, scheduler) => {
        const endpoints = new MemoryEndpoints();
        for (const endpoint of [ours(), ours()]) endpoints.put(endpoint);
        const memory = memoryDeliveries(endpoints);
        const event = anEvent({ tenant });
        const run = fanOut({
          subscribers: endpoints,
          deliveries: interposed('deliveries', memory, async () => scheduler.schedule(Promise.resolve())),
          organizations: memoryOrganizationStates(),
          queues: { send: async () => [] },
          log: recordedLog(),
          now: () => NOW,
        });

        await scheduler.waitFor(Promise.all(Array.from({ length: runs }, () => run([owing(event)]))));

        expect(memory.every).toHaveLength(2);
        expect(memory.stream).toHaveLength(2);
      }),
    );
  });

  it('attempts a delivery once although its message arrives several times', async () => {
    let started = 0;
    const { publish, pass, lanes, deliveries } = aService({
      attempt: async () => {
        started += 1;
        return OK;
      },
    });
    await publish();
    for (const lane of ['fresh', 'retry', 'slow'] as const)
      await lanes.send(
        lane,
        lanes.queues.fresh.deliveryMessages
          .slice(0, 1)
          .map((deliveryMessage) => ({ message: deliveryMessage })),
      );

    await pass(5);

    expect(started).toBe(1);
    expect(deliveries.every).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
  });
});
