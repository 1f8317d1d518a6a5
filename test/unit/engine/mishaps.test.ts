import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_ATTEMPTS } from '../../../functions/domain/backoff.ts';
import { anEndpoint, anEvent, aTenant } from '../../builders.ts';
import { isOpen } from './delivery-watch.ts';
import { type Answer, clocks, DeliveryWorld } from './delivery-world.ts';

/** What happens next. `which` picks one of the steps that wait. */
type Happening =
  | { kind: 'fan-out' | 'dispatch' | 'remind' | 'disable' | 'delete' }
  | { kind: 'go-on'; which: number; steps: number }
  | { kind: 'fail' | 'crash' | 'redeliver'; which: number }
  | { kind: 'refuse'; messages: number }
  | { kind: 'elapse'; seconds: number };

const which = fc.nat(9);
const happening = fc.oneof<fc.WeightedArbitrary<Happening>[]>(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('dispatch' as const) }) },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('go-on' as const),
      which,
      steps: fc.integer({ min: 1, max: 8 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('fail' as const, 'crash' as const), which }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('elapse' as const),
      seconds: fc.constantFrom(1, 10, clocks.lease, clocks.visibility, 60, 3600),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('fan-out' as const, 'remind' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('refuse' as const), messages: fc.integer({ min: 1, max: 3 }) }),
  },
);
const orDisabling = fc.oneof<fc.WeightedArbitrary<Happening>[]>(
  { weight: 30, arbitrary: happening },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('disable' as const, 'delete' as const) }) },
);
const orRedelivering = fc.oneof<fc.WeightedArbitrary<Happening>[]>(
  { weight: 20, arbitrary: happening },
  { weight: 3, arbitrary: fc.constant({ kind: 'fan-out' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('redeliver' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('disable' as const, 'delete' as const) }) },
);

/** Long enough for a worker to be overtaken by others while it waits, which the library's default length is not. */
const manyOf = (each: fc.Arbitrary<Happening>) => fc.array(each, { maxLength: 80, size: 'max' });

const answers = fc.record({
  first: fc.array(fc.constantFrom<Answer[]>('accepts', 'refuses', 'refuses', 'refuses', 'breaks'), {
    maxLength: 12,
  }),
  afterwards: fc.constantFrom<Answer[]>('accepts', 'refuses'),
});

const tenant = aTenant();

/** A run takes some milliseconds; there is time for a slow machine, and for finding the smallest failing run. */
const RUNS = { numRuns: 1000 };
const PATIENCE = 60_000;

async function happen(world: DeliveryWorld, next: Happening): Promise<void> {
  const endpoints = await world.endpoints.all(tenant.orgId);
  switch (next.kind) {
    case 'fan-out':
      return world.startFanOut();
    case 'dispatch':
      await world.startDispatch();
      return;
    case 'remind':
      await world.lanes.send(
        'fresh',
        world.lanes.reminders.slice(0, 1).map((reminder) => ({ reminder })),
      );
      return;
    case 'go-on':
      for (let step = 0; step < next.steps; step += 1) await world.steps.goOn(next.which);
      return;
    case 'fail':
      return world.steps.fail(next.which);
    case 'crash':
      return world.steps.crash(next.which);
    case 'refuse':
      for (const queue of world.lanes.all) queue.refuse(next.messages);
      return;
    case 'redeliver':
      return world.redeliver(next.which);
    case 'elapse':
      return world.clock.elapse(next.seconds);
    case 'disable':
      for (const endpoint of endpoints)
        world.endpoints.put({ ...endpoint, status: 'auto_disabled', consecutiveFailures: 10 });
      return;
    case 'delete':
      // An endpoint that goes between a fan-out and its repetition leaves a delivery that only the reconciler finds.
      if (world.fannedOut) for (const { id } of endpoints) world.endpoints.remove(tenant.orgId, id);
      return;
  }
}

/** Runs a world through what happens, and then to its end. */
async function goThrough(world: DeliveryWorld, happenings: readonly Happening[]): Promise<void> {
  for (const next of happenings) {
    await happen(world, next);
    world.look();
  }
  await world.finish();
}

/** A world in which an event was committed, after what happened to it. */
async function through(
  happenings: readonly Happening[],
  { first, afterwards }: { first: readonly Answer[]; afterwards: Answer },
  endpointCount: number,
): Promise<DeliveryWorld> {
  const endpoints = Array.from({ length: endpointCount }, () => anEndpoint({ orgId: tenant.orgId }));
  const sequence = first.values();
  const world = new DeliveryWorld(anEvent({ tenant }), endpoints, () => sequence.next().value ?? afterwards);
  await world.startFanOut();
  await goThrough(world, happenings);
  return world;
}

describe('a delivery whose workers crash between any two steps, whose calls fail and whose messages are repeated', () => {
  it(
    'ends in exactly one terminal state after at most eight attempts',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          manyOf(happening),
          answers,
          fc.integer({ min: 1, max: 3 }),
          async (happenings, receiver, endpointCount) => {
            const { deliveries, lanes } = await through(happenings, receiver, endpointCount);

            expect(deliveries.every).toHaveLength(endpointCount);
            expect(lanes.deadLetters).toEqual([]);
            for (const { status, attempts, attemptLog, terminalAt } of deliveries.every) {
              expect(terminalAt).toBeDefined();
              if (status === 'exhausted') expect(attempts).toBe(8);
              else expect(status).toBe('succeeded');
              expect(attemptLog.some(({ error }) => error === undefined)).toBe(status === 'succeeded');
            }
          },
        ),
        RUNS,
      );
    },
    PATIENCE,
  );

  it(
    'ends as well when its endpoint is disabled or deleted at any moment',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          manyOf(orDisabling),
          answers,
          fc.integer({ min: 1, max: 3 }),
          async (happenings, receiver, endpointCount) => {
            const { deliveries } = await through(happenings, receiver, endpointCount);

            expect(deliveries.every.filter(isOpen)).toEqual([]);
          },
        ),
        RUNS,
      );
    },
    PATIENCE,
  );

  it(
    'is sent again as often as that is asked for, each time as a delivery that ends by itself',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          manyOf(orRedelivering),
          answers,
          fc.integer({ min: 1, max: 2 }),
          which,
          async (happenings, receiver, endpointCount, first) => {
            const world = await through([], receiver, endpointCount);
            const originals = world.deliveries.every;

            await goThrough(world, [{ kind: 'redeliver', which: first }, ...happenings]);

            const [again, ...others] = world.deliveries.every.slice(endpointCount);
            expect(again?.redeliveryOf).toBe(originals[first % endpointCount]?.id);
            expect(world.deliveries.every.slice(0, endpointCount)).toEqual(originals);
            expect(world.lanes.deadLetters).toEqual([]);
            for (const { status, attempts, eventId, attemptLog } of [again ?? expect.fail(), ...others]) {
              expect(eventId).toBe(originals[0]?.eventId);
              expect(['succeeded', 'exhausted', 'skipped']).toContain(status);
              if (status === 'exhausted') expect(attempts).toBe(MAX_ATTEMPTS);
              expect(attemptLog.some(({ error }) => error === undefined)).toBe(status === 'succeeded');
            }
          },
        ),
        RUNS,
      );
    },
    PATIENCE,
  );

  it('is attempted exactly eight times by a receiver that never accepts, when nothing else fails', async () => {
    const { deliveries } = await through([], { first: [], afterwards: 'refuses' }, 1);

    expect(deliveries.every).toMatchObject([{ status: 'exhausted', attempts: 8 }]);
    expect(deliveries.every[0]?.attemptLog.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});
