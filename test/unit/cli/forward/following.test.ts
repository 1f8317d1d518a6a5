import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BEGINNING, type Position } from '../../../../packages/cli/src/forward/position.ts';
import { type Followed, lookRound } from '../../../../packages/cli/src/forward/round.ts';
import { idAt, listAt, type SignedDelivery, type SimulatedDelivery } from './sandbox-fixture.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** When the simulation begins. */
const START = 400 * DAY;
const WEBHOOKS = ['whk_a', 'whk_b', 'whk_c'];

class Killed extends Error {}

const delivery = fc
  .record({
    happensAfter: fc.oneof(fc.nat(2 * MINUTE), fc.nat(HOUR), fc.nat(6 * HOUR)),
    late: fc.oneof(fc.nat(500), fc.integer({ min: 10 * MINUTE, max: 14 * MINUTE })),
    attemptedAfter: fc.oneof(fc.nat(500), fc.nat(3 * HOUR)),
    webhookId: fc.constantFrom(...WEBHOOKS),
    settlement: fc.oneof(
      { weight: 4, arbitrary: fc.constant('attempted' as const) },
      { weight: 1, arbitrary: fc.constant('ended' as const) },
    ),
  })
  .map(({ happensAfter, late, attemptedAfter, ...rest }) => {
    const happensAt = START + happensAfter;
    return { ...rest, happensAt, appearsAt: happensAt + late, settledAt: happensAt + late + attemptedAfter };
  });

const deliveries = fc
  .array(delivery, { maxLength: 60, size: 'max' })
  .map((all) =>
    all.map(({ happensAt, ...rest }, index): SimulatedDelivery => ({ ...rest, id: idAt(happensAt, index) })),
  );

/** An event between two calls: none, time passes, the listing changes, or the program is killed. */
const faults = fc.array(fc.constantFrom('none', 'slow', 'changed'), { minLength: 1, maxLength: 7 });
const looks = fc.array(
  fc.record({
    look: fc.constantFrom('full' as const, 'short' as const, 'short' as const, 'short' as const),
    after: fc.oneof(fc.nat(2000), fc.nat(5 * MINUTE), fc.nat(20 * MINUTE)),
    killedAt: fc.option(fc.nat(40), { freq: 3 }),
  }),
  { maxLength: 40, size: 'max' },
);
const pageSize = fc.integer({ min: 1, max: 7 });

/** A program that follows the listing, is killed and restarted; with a record of its work. */
function aProgram(all: readonly SimulatedDelivery[], size: number, disturbances: readonly string[]) {
  let now = START;
  let calls = 0;
  let killedAt: number | undefined;
  let saved = new Map<string, Position>(WEBHOOKS.map((id) => [id, BEGINNING]));
  let followed = new Map<string, Followed>();
  const rounds: string[][] = [];
  const ages: number[] = [];

  const start = () => {
    followed = new Map([...saved].map(([id, position]) => [id, { position }]));
  };
  start();

  /** @returns whether the listing has changed */
  function call(): boolean {
    calls += 1;
    now += 20;
    if (killedAt !== undefined && calls > killedAt) throw new Killed();
    const disturbance = disturbances[calls % disturbances.length];
    if (disturbance === 'slow') now += 35_000;
    return disturbance === 'changed';
  }

  async function round(look: 'full' | 'short'): Promise<'complete' | 'cut short'> {
    const forwarded: string[] = [];
    rounds.push(forwarded);
    return lookRound<SignedDelivery>(followed, look, {
      list: async (webhookId, cursor) => {
        const isChanged = call();
        return isChanged && cursor !== undefined ? undefined : listAt(all, webhookId, { cursor, size, now });
      },
      forward: async ({ id, signedAt }) => {
        ages.push(now - signedAt);
        call();
        forwarded.push(id);
        call();
      },
      save: async () => {
        saved = new Map([...followed].map(([id, { position }]) => [id, position]));
        call();
      },
      now: () => now,
    });
  }

  return {
    rounds,
    ages,
    /** The number of saved ids. */
    remembered: () => saved.get('whk_a')?.forwarded.size,
    wait: (milliseconds: number) => {
      now += milliseconds;
    },
    /** @returns whether it was killed meanwhile, and has been restarted */
    async look(kind: 'full' | 'short', kill: number | undefined): Promise<boolean> {
      killedAt = kill === undefined ? undefined : calls + kill;
      try {
        await round(kind);
        return false;
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        start();
        return true;
      } finally {
        killedAt = undefined;
      }
    },
    /** Polls until the listing did not change during a whole round. */
    async settle(): Promise<void> {
      disturbances = ['none'];
      while ((await round('full')) !== 'complete');
    },
  };
}

const expected = (all: readonly SimulatedDelivery[]) =>
  all.flatMap(({ id, settlement }) => (settlement === 'attempted' ? id : [])).sort();

describe('following a listing', () => {
  it('forwards each delivery exactly once, however late it appears and however the pages are cut', async () => {
    await fc.assert(
      fc.asyncProperty(deliveries, looks, pageSize, faults, async (all, plan, size, disturbances) => {
        const program = aProgram(all, size, disturbances);
        for (const { look, after } of plan) {
          program.wait(after);
          await program.look(look, undefined);
        }
        program.wait(DAY);
        await program.settle();
        expect(program.rounds.flat().sort()).toEqual(expected(all));
      }),
      { numRuns: 300 },
    );
  });

  it('loses no delivery however often it is killed, and repeats at most the one in progress', async () => {
    await fc.assert(
      fc.asyncProperty(deliveries, looks, pageSize, faults, async (all, plan, size, disturbances) => {
        const program = aProgram(all, size, disturbances);
        let kills = 0;
        for (const { look, after, killedAt } of plan) {
          program.wait(after);
          if (await program.look(look, killedAt ?? undefined)) kills += 1;
        }
        program.wait(DAY);
        await program.settle();
        const forwarded = program.rounds.flat();
        expect([...new Set(forwarded)].sort()).toEqual(expected(all));
        expect(forwarded.length - expected(all).length).toBeLessThanOrEqual(kills);
      }),
      { numRuns: 300 },
    );
  });

  it('forwards the oldest first, with a fresh signature', async () => {
    await fc.assert(
      fc.asyncProperty(deliveries, looks, pageSize, faults, async (all, plan, size, disturbances) => {
        const program = aProgram(all, size, disturbances);
        for (const { look, after } of plan) {
          program.wait(after);
          await program.look(look, undefined);
        }
        for (const round of program.rounds) expect(round).toEqual(round.toSorted());
        expect(Math.max(0, ...program.ages)).toBeLessThanOrEqual(MINUTE);
      }),
    );
  });

  it('reads one page when nothing is new', async () => {
    const all = Array.from({ length: 500 }, (_, index): SimulatedDelivery => {
      const at = START + index * 1000;
      const id = idAt(at, index);
      return { id, webhookId: 'whk_a', appearsAt: at, settledAt: at, settlement: 'attempted' };
    });
    const followed = new Map<string, Followed>([['whk_a', { position: BEGINNING }]]);
    let pages = 0;
    const parts = {
      list: async (webhookId: string, cursor: string | undefined) => {
        pages += 1;
        return listAt(all, webhookId, { cursor, size: 100, now: START + DAY });
      },
      forward: async () => undefined,
      save: async () => undefined,
      now: () => 0,
    };
    await lookRound(followed, 'full', parts);
    expect(pages).toBe(5);
    await lookRound(followed, 'short', parts);
    expect(pages).toBe(6);
  });

  it('stores only the ids that may still have late neighbours', async () => {
    const all = Array.from({ length: 100 }, (_, index): SimulatedDelivery => {
      const at = START + index * MINUTE;
      const id = idAt(at, index);
      return { id, webhookId: 'whk_a', appearsAt: at, settledAt: at, settlement: 'attempted' };
    });
    const program = aProgram(all, 10, ['none']);
    program.wait(DAY);
    await program.look('full', undefined);
    expect(program.remembered()).toBe(16);
  });

  it('polls again when the page has changed meanwhile', async () => {
    const at = START;
    const only: SimulatedDelivery = {
      id: idAt(at, 1),
      webhookId: 'whk_a',
      appearsAt: at,
      settledAt: at,
      settlement: 'attempted',
    };
    const followed = new Map<string, Followed>([['whk_a', { position: BEGINNING }]]);
    const parts = {
      list: async () => undefined,
      forward: async () => expect.unreachable(),
      save: async () => expect.unreachable(),
      now: () => 0,
    };
    expect(await lookRound(followed, 'full', parts)).toBe('cut short');
    const forwarded: string[] = [];
    const again = {
      ...parts,
      list: async () => listAt([only], 'whk_a', { cursor: undefined, size: 1, now: at }),
      forward: async ({ id }: SignedDelivery) => void forwarded.push(id),
      save: async () => undefined,
    };
    expect(await lookRound(followed, 'full', again)).toBe('complete');
    expect(forwarded).toEqual([only.id]);
  });
});
