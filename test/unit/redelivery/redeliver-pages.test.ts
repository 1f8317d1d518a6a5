import { describe, expect, it } from 'vitest';
import { type DeliveryId, deriveJobDeliveryId, parseCreationTime } from '../../../functions/aws/ids.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { aRedelivery, SHORTEST_ROUND, type TestRedelivery } from '../delivery/a-redelivery.ts';

const many = (had: TestRedelivery['had'], count: number) =>
  Promise.all(Array.from({ length: count }, (_, index) => had('exhausted', 3000 - index)));

describe('delivery of a redelivery job', () => {
  it('has its own creation time, not that of the job', async () => {
    const { had, started, run, made, clock } = aRedelivery();
    await had('exhausted', 10);
    const order = await started();
    clock.elapse(3600);
    await run();
    const [delivery] = await made(order);
    expect(delivery?.createdAt).toBe(later(NOW, seconds(3600)).toISOString());
    expect(parseCreationTime(delivery?.id as DeliveryId)).toEqual(later(NOW, seconds(3600)));
  });

  it('is newer than all that were created before, and carries the time of its creation', async () => {
    const { had, started, run, reminded, slowly, made } = aRedelivery();
    await many(had, 100);
    const order = await started();
    await run(slowly());
    const times = reminded.map(({ id }) => parseCreationTime(id as DeliveryId).getTime());
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(new Set(times).size).toBeGreaterThan(5);
    for (const { id, createdAt } of await made(order))
      expect(Date.parse(createdAt)).toBe(parseCreationTime(id).getTime());
  });

  it('is the only one of an event that failed several times, before and in the time range', async () => {
    const { had, started, run, made, slowly, endpoint } = aRedelivery();
    const { eventId } = await had('exhausted', 3700);
    const failedAgain = (secondsAgo: number) =>
      had('exhausted', secondsAgo, {
        eventId,
        id: deriveJobDeliveryId(eventId, endpoint.id, later(NOW, -seconds(secondsAgo))),
      });
    const again = await failedAgain(3000);
    await Promise.all(Array.from({ length: 30 }, (_, index) => had('succeeded', 2000 - index)));
    await failedAgain(100);
    const order = await started();
    await run(slowly());
    expect(await made(order)).toMatchObject([{ redeliveryOf: again.id }]);
  });
});

describe('redelivery job whose queue refuses the next round', () => {
  it('continues when its message is received again', async () => {
    const { had, started, run, made, job, worker, messages, refusesMessages } = aRedelivery();
    await many(had, 40);
    const order = await started();
    const [message] = messages.splice(0);
    if (message === undefined) throw new Error('there was to be a message');
    refusesMessages(true);

    await expect(worker(undefined, SHORTEST_ROUND)(message)).rejects.toThrow('did not take the next round');

    expect(messages).toEqual([]);
    expect(await job(order)).toMatchObject({ status: 'running' });
    refusesMessages(false);
    messages.push(message);
    await run(worker(undefined, SHORTEST_ROUND));
    expect(await made(order)).toHaveLength(40);
    expect(await job(order)).toMatchObject({ status: 'done', redelivered: 40 });
  });
});
