import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Lane, LaneQueue } from '../../../src/functions/lanes.ts';

const lane = (share = 2): Lane => ({ share });

describe('invocations that wait for a sandbox', () => {
  it('are in order within a lane', () => {
    const queue = new LaneQueue<number>();
    const only = lane(3);
    for (const number of [1, 2, 3]) queue.add(only, number);
    expect([queue.take(), queue.take(), queue.take(), queue.take()].map((taken) => taken?.item)).toEqual([
      1,
      2,
      3,
      undefined,
    ]);
  });

  it('come first in a lane with none in progress', () => {
    const queue = new LaneQueue<string>();
    const [slow, fresh] = [lane(), lane()];
    queue.add(slow, 'slow 1');
    queue.add(slow, 'slow 2');
    queue.take();
    queue.add(fresh, 'fresh');
    expect(queue.isNextFirstOfItsLane).toBe(true);
    expect(queue.take()?.item).toBe('fresh');
    expect(queue.isNextFirstOfItsLane).toBe(false);
    expect(queue.take()?.item).toBe('slow 2');
    expect(queue.next).toBeUndefined();
  });

  it('wait while their lane uses its whole share', () => {
    const queue = new LaneQueue<string>();
    const narrow = lane(1);
    queue.add(narrow, 'first');
    queue.add(narrow, 'second');
    queue.take();
    expect(queue.take()).toBeUndefined();
    queue.end(narrow);
    expect(queue.take()?.item).toBe('second');
  });

  it('never exceed the share of their lane, and prefer the lane with the fewest in progress', () => {
    const step = fc.record({
      kind: fc.constantFrom('add', 'take', 'end'),
      lane: fc.integer({ min: 0, max: 2 }),
    });
    const shares = fc.tuple(...[1, 2, 3].map(() => fc.integer({ min: 1, max: 4 })));
    fc.assert(
      fc.property(shares, fc.array(step, { maxLength: 60 }), (given, steps) => {
        const queue = new LaneQueue<number>();
        const lanes = given.map((share) => lane(share));
        const waiting = lanes.map((): number[] => []);
        steps.forEach(({ kind, lane: index }, item) => {
          const chosen = lanes[index];
          if (!chosen) return;
          if (kind === 'add') {
            queue.add(chosen, item);
            waiting[index]?.push(item);
          } else if (kind === 'end') {
            if (queue.underWay(chosen) > 0) queue.end(chosen);
          } else {
            const before = lanes.map((one) => queue.underWay(one));
            const eligible = lanes.flatMap((lane, at) =>
              waiting[at]?.length && queue.underWay(lane) < lane.share ? [queue.underWay(lane)] : [],
            );
            const taken = queue.take();
            expect(taken === undefined).toBe(eligible.length === 0);
            if (!taken) return;
            const from = lanes.indexOf(taken.lane);
            expect(before[from]).toBe(Math.min(...eligible));
            expect(taken.item).toBe(waiting[from]?.shift());
            expect(queue.underWay(taken.lane)).toBeLessThanOrEqual(taken.lane.share);
          }
        });
      }),
    );
  });

  it('can be removed together', () => {
    const queue = new LaneQueue<number>();
    queue.add(lane(), 1);
    queue.add(lane(), 2);
    expect(queue.clear()).toEqual([1, 2]);
    expect(queue.next).toBeUndefined();
  });
});
