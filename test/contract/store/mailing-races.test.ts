import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import type { BusEvent } from '../../../functions/events/bus.ts';
import { aTenant, NOW, seconds } from '../../builders.ts';
import { type CallStage, interposed } from '../../doubles/interposed.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { dynamoDb } from '../../engines.ts';
import { casesOf } from '../../support/cases.ts';
import {
  aChange,
  aDisabling,
  admins,
  aNotifier,
  DAY,
  REFUSED,
  UNKNOWN,
} from '../../unit/notices/notifier-fixture.ts';

const engine = dynamoDb();

/** Seconds in which a message is retried before it moves to the dead-letter queue. */
const TRIED = 3600;

type Notifier = ReturnType<typeof aNotifier>;

/** Faults of a worker's calls: the worker is lost, or the call fails before or after its effect. */
type Fate = 'goes-on' | 'is-lost' | 'fails';
interface Trouble {
  call: number;
  stage: CallStage;
  fate: Fate;
}

/**
 * A worker of its own, as one invocation of the function.
 * @returns a function that processes an event, and says whether it is done
 */
function worker({ ports, runWith }: Notifier, trouble: Trouble | undefined) {
  const { promise: lost, resolve: lose } = Promise.withResolvers<boolean>();
  let calls = 0;
  let isLost = false;
  const meet = async (_call: string, stage: CallStage): Promise<void> => {
    if (stage === 'calling') calls += 1;
    // A lost worker does nothing more and gets no answer.
    if (isLost) await new Promise<never>(() => undefined);
    if (trouble === undefined || calls !== trouble.call || stage !== trouble.stage) return;
    if (trouble.fate === 'fails') throw new Error('a call failed');
    if (trouble.fate === 'is-lost') {
      isLost = true;
      lose(false);
      await new Promise<never>(() => undefined);
    }
  };
  const run = runWith({
    mailings: interposed('mailings', ports.mailings, meet),
    mailer: interposed('mailer', ports.mailer, meet),
    sources: interposed('sources', ports.sources, meet),
  });
  return (event: BusEvent): Promise<boolean> =>
    Promise.race([
      lost,
      run(event).then(
        () => true,
        () => false,
      ),
    ]);
}

const troubles = fc.record({
  call: fc.integer({ min: 1, max: 7 }),
  stage: fc.constantFrom<CallStage>('calling', 'answering'),
  fate: fc.constantFrom<Fate>('goes-on', 'is-lost', 'fails'),
});
const results = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.constant({ kind: 'sent' as const }) },
    fc.constant(REFUSED),
    fc.constant(UNKNOWN),
    fc.constant('taken-without-answer' as const),
  ),
  { maxLength: 12 },
);

/**
 * Events about one URL, each of which several workers process at once; then time passes, and the unprocessed
 * ones are retried.
 */
const lives = fc.record({
  recipients: fc.constantFrom(1, 51),
  results,
  rounds: fc.array(
    fc.record({
      elapse: fc.constantFrom(1, 180, DAY - 180, DAY, DAY + 1),
      isNew: fc.boolean(),
      workers: fc.array(fc.option(troubles, { nil: undefined }), { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 8 },
  ),
});

function aNotifierOf(table: Table, recipients: number, given: Notifier['results']): Notifier {
  const notifier = aNotifier({ table });
  notifier.people.admins = admins(recipients);
  notifier.results.push(...given);
  return notifier;
}

/** Checks that no two e-mails to the same recipients were sent within 24 hours. */
function expectNoneTooSoon({ sent }: Notifier): void {
  for (const [index, { to, at }] of sent.entries())
    for (const next of sent.slice(index + 1))
      if (next.to.join() === to.join())
        expect(next.at.getTime() - at.getTime()).toBeGreaterThanOrEqual(DAY * 1000);
}

describe.each<[name: string, make: () => Promise<Table>, numRuns: number]>([
  ['in memory', async () => memoryTables().mailings, casesOf(80, 500)],
  ['in the engine', async () => (await engine.tables()).mailings, casesOf(5, 50)],
])('e-mails (%s)', (_, make, numRuns) => {
  it('are sent once when fifty workers and seven events compete', async () => {
    const notifier = aNotifier({ table: await make() });
    const tenant = aTenant();
    const events = Array.from({ length: 7 }, () => aChange({ tenant }));

    const done = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        worker(notifier, undefined)(events[index % events.length] ?? aChange()),
      ),
    );

    expect(notifier.sent).toHaveLength(1);
    expect(done).toContain(true);
    for (const event of events) expect(await notifier.untilDone(event)).toBe(1);
    expect(notifier.sent).toHaveLength(1);
  });

  it('are never sent twice within 24 hours, nor twice for one event, when workers are lost', async () => {
    const table = await make();
    await fc.assert(
      fc.asyncProperty(lives, async ({ recipients, results: given, rounds }) => {
        const notifier = aNotifierOf(table, recipients, given);
        const tenant = aTenant();
        const sourceId = newId('src', NOW);
        const open = new Map<BusEvent, number>();
        for (const [version, { elapse, isNew, workers }] of rounds.entries()) {
          notifier.clock.elapse(elapse);
          for (const [event, since] of open)
            if (notifier.clock.ms - since > seconds(TRIED)) open.delete(event);
          if (isNew || version === 0)
            open.set(aChange({ tenant, sourceId, version, difference: version }), notifier.clock.ms);
          for (const event of open.keys()) {
            const done = await Promise.all(workers.map((trouble) => worker(notifier, trouble)(event)));
            if (done.some(Boolean)) open.delete(event);
          }
        }
        expectNoneTooSoon(notifier);
        const told = notifier.sent.flatMap(({ to, subject }) => to.map((address) => `${address} ${subject}`));
        expect(new Set(told).size).toBe(told.length);
      }),
      { numRuns },
    );
  });

  it('without a window are sent once when workers are lost', async () => {
    const table = await make();
    await fc.assert(
      fc.asyncProperty(lives, async ({ recipients, results: given, rounds }) => {
        const notifier = aNotifierOf(table, recipients, given);
        const event = aDisabling();
        for (const { elapse, workers } of rounds) {
          notifier.clock.elapse(elapse);
          await Promise.all(workers.map((trouble) => worker(notifier, trouble)(event)));
        }
        const everybody = notifier.sent.flatMap(({ to }) => to);
        expect(new Set(everybody).size).toBe(everybody.length);
      }),
      { numRuns },
    );
  });

  it('that failed before they were sent are retried until they are sent', async () => {
    const table = await make();
    /** The reads and the claim: if these fail, no e-mail was sent. */
    const early = fc.record({
      call: fc.integer({ min: 1, max: 3 }),
      stage: fc.constant<CallStage>('calling'),
      fate: fc.constant<Fate>('fails'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(early, { nil: undefined }), { maxLength: 8 }), async (failures) => {
        const notifier = aNotifier({ table });
        const event = aChange();
        for (const failure of failures) {
          notifier.results.push(REFUSED);
          expect(await worker(notifier, failure)(event)).toBe(false);
          notifier.results.length = 0;
          notifier.clock.elapse(180);
          expect(notifier.sent).toEqual([]);
        }
        expect(await notifier.untilDone(event)).toBe(1);
        expect(notifier.sent).toHaveLength(1);
        expect(notifier.notified).toHaveLength(1);
      }),
      { numRuns },
    );
  });
});
