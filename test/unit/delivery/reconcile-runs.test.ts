import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReconcilePorts } from '../../../functions/delivery/reconcile.ts';
import { DUE_SHARDS } from '../../../functions/tenancy/keys.ts';
import { aReconciler, IN_FULL, inSeconds, LOOKAHEAD } from './reconciler-fixture.ts';

/** Time for so many pages. */
function timeFor(pages: number): () => boolean {
  let left = pages;
  return () => {
    left -= 1;
    return left >= 0;
  };
}

/** Counts the searches of the index. */
function counted(due: ReconcilePorts['due']): { due: ReconcilePorts['due']; finds: () => number } {
  let finds = 0;
  return {
    due: {
      find(...search) {
        finds += 1;
        return due.find(...search);
      },
      postpone: (...entry) => due.postpone(...entry),
      expire: (...expiry) => due.expire(...expiry),
    },
    finds: () => finds,
  };
}

describe('reconciler run', () => {
  it('ends between two pages when its time is up, reports it, and the next ones continue', async () => {
    const { run, put, sent } = aReconciler();
    for (let count = 0; count < 350; count += 1) await put('parked', inSeconds(0));

    // Seven reads of parked deliveries and four of watched ones, and two rounds of a hundred.
    const first = await run(timeFor(13));
    expect(first).toMatchObject({ resumed: 200, complete: false });
    expect(await run(IN_FULL)).toMatchObject({ resumed: 150, complete: true });

    expect(new Set(sent()).size).toBe(350);
    expect(sent()).toHaveLength(350);
  });

  it('searches the index once per shard and page of due entries, independent of all others', async () => {
    const ports = aReconciler({ isSharded: true });
    const { due, finds } = counted(ports.due);
    const run = ports.runWith({ due });

    // A history that has ended, retries that are far off, and messages that are not late.
    for (let count = 0; count < 300; count += 1) {
      const ended = await ports.put('watched', inSeconds(600));
      await ports.deliveries.skip(ended, 'endpoint_deleted', inSeconds(0));
      await ports.put('parked', inSeconds(LOOKAHEAD + 600));
      await ports.put('watched', inSeconds(600));
    }
    await run(IN_FULL);
    expect(finds()).toBe(2 * DUE_SHARDS);

    for (let count = 0; count < 200; count += 1) await ports.put('parked', inSeconds(0));
    const before = finds();
    await run(IN_FULL);
    expect(finds() - before).toBeLessThanOrEqual(2 * DUE_SHARDS + 200 / 10);
  });

  it('begins with another shard each minute, so that short runs reach all of them', async () => {
    const { runWith, put, clock, due, sent } = aReconciler({ isSharded: true });
    const ids = new Set<string>();
    for (let count = 0; count < 200; count += 1) ids.add((await put('parked', inSeconds(0))).id);
    const run = runWith({ due });

    for (let minute = 0; minute < DUE_SHARDS; minute += 1) {
      await run(timeFor(8));
      clock.elapse(60);
    }

    expect(new Set(sent())).toEqual(ids);
  });

  it('leaves each delivery once in a queue or in the index, for any refusal and time', async () => {
    const entries = fc.array(
      fc.record({
        state: fc.constantFrom('parked' as const, 'watched' as const),
        dueIn: fc.integer({ min: -2_000, max: 200 }),
      }),
      { maxLength: 40 },
    );
    const runs = fc.array(fc.record({ pages: fc.nat({ max: 6 }), refusals: fc.nat({ max: 15 }) }), {
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(entries, runs, async (all, cuts) => {
        const { run, put, lanes, sent, deliveries } = aReconciler({ pageSize: 7 });
        for (const { state, dueIn } of all) await put(state, inSeconds(dueIn));
        for (const { pages, refusals } of cuts) {
          lanes.queues.retry.refuse(refusals);
          await run(timeFor(pages));
          expect(deliveries.due).toHaveLength(all.length);
        }
        for (let refused = 1; refused > 0; ) ({ refused } = await run(IN_FULL));

        const isDue = ({ state, dueIn }: (typeof all)[number]) =>
          state === 'parked' ? dueIn <= LOOKAHEAD : dueIn <= 0;
        expect(sent().length).toBe(new Set(sent()).size);
        expect(sent()).toHaveLength(all.filter(isDue).length);
      }),
      { numRuns: 60 },
    );
  });
});
