import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { describe, expect, it } from 'vitest';
import { BusEvent, NOTICES } from '../../../functions/events/bus.ts';
import { scheduleSourceChecks } from '../../../functions/knowledge/schedule-source-checks.ts';
import { RESEND_SECONDS, type Source } from '../../../functions/knowledge/sources.ts';
import { aSource, aTenant, later, NOW, seconds } from '../../builders.ts';
import { type Gate, interposed } from '../../doubles/interposed.ts';
import { refuse } from '../../doubles/memory-queue.ts';
import { sourcesIn } from '../../doubles/memory-sources.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { casesOf } from '../../support/cases.ts';

const open: Gate = async () => undefined;

/** The scheduler over sources in memory and a queue that records its messages. */
function aScheduler() {
  const clock = new VirtualClock();
  const sources = sourcesIn(memoryTables());
  const log = recordedLog();
  const sent: BusEvent[] = [];
  let refuses: (event: BusEvent) => boolean = () => false;
  const checks = {
    async send(events: readonly BusEvent[]) {
      const refused = events.filter(refuses);
      sent.push(...events.filter((event) => !refused.includes(event)));
      return refuse(refused);
    },
  };
  const worker = (gate: Gate = open) =>
    scheduleSourceChecks({
      due: interposed('due', sources.due, gate),
      checks: interposed('checks', checks, gate),
      log,
      now: clock.now,
    });
  return {
    clock,
    sources,
    log,
    sent,
    worker,
    run: worker(),
    refuses: (which: typeof refuses) => {
      refuses = which;
    },
    /** Adds sources of some tenants. Each is due `inSeconds` from now. */
    async due(count: number, inSeconds: (index: number) => number = () => 0): Promise<Source[]> {
      const tenants = Array.from({ length: 3 }, () => aTenant());
      const made = Array.from({ length: count }, (_, index) =>
        aSource({
          ...tenants[index % 3],
          createdAt: later(clock.now(), seconds(inSeconds(index) - RESEND_SECONDS)).toISOString(),
        }),
      );
      for (const source of made) await sources.add(source);
      return made;
    },
  };
}

const listCheckedIds = (events: readonly BusEvent[]) => events.map(({ data }) => data.sourceId).toSorted();
const listIds = (sources: readonly Source[]) => sources.map(({ id }) => id).toSorted();

describe('scheduler run of source checks', () => {
  it('sends a message for each source that is due, and for no other', async () => {
    const { due, run, sent } = aScheduler();
    const made = await due(300, (index) => index - 100);

    const done = await run(() => true);

    expect(listCheckedIds(sent)).toEqual(listIds(made.slice(0, 101)));
    expect(done).toEqual({ sent: 101, left: 0, latestSeconds: 100, complete: true });
  });

  it('sends the event that the bus would send, with the due time in its id', async () => {
    const { due, run, sent, clock } = aScheduler();
    const [source] = await due(1, () => -10);

    await run(() => true);

    expect(sent).toEqual([
      {
        id: `${source?.id}#due#${later(NOW, seconds(-10)).toISOString()}`,
        type: 'source.check',
        orgId: source?.orgId,
        generation: source?.generation,
        createdAt: clock.now().toISOString(),
        data: { sourceId: source?.id },
      },
    ]);
    for (const event of sent) NOTICES['source.check'].parse(BusEvent.parse(event).data);
  });

  it('does not resend a message within 15 minutes', async () => {
    const { due, run, sent, clock } = aScheduler();
    const made = await due(40);
    await run(() => true);
    await run(() => true);
    clock.elapse(RESEND_SECONDS - 1);
    await run(() => true);
    expect(sent).toHaveLength(40);

    clock.elapse(1);
    expect(await run(() => true)).toMatchObject({ sent: 40, latestSeconds: 0 });
    expect(listCheckedIds(sent.slice(40))).toEqual(listIds(made));
    expect(new Set(sent.map(({ id }) => id)).size).toBe(80);
  });
});

describe('scheduler run that fails in part', () => {
  it('leaves exactly the refused messages to the next one', async () => {
    const scheduler = aScheduler();
    const made = await scheduler.due(30);
    const refused = new Set(made.slice(0, 7).map(({ id }) => id));
    scheduler.refuses(({ data }) => refused.has(data.sourceId as Source['id']));

    expect(await scheduler.run(() => true)).toMatchObject({ sent: 23, left: 7 });
    scheduler.refuses(() => false);
    expect(await scheduler.run(() => true)).toMatchObject({ sent: 7, left: 0 });
    expect(listCheckedIds(scheduler.sent)).toEqual(listIds(made));
  });

  it('leaves all messages to the next one when the queue cannot be reached', async () => {
    const scheduler = aScheduler();
    const made = await scheduler.due(30);
    scheduler.refuses(() => true);

    expect(await scheduler.run(() => true)).toMatchObject({ sent: 0, left: 30 });
    scheduler.refuses(() => false);
    expect(new Set(scheduler.log.entries.map(({ level }) => level))).toEqual(new Set(['error']));
    await scheduler.run(() => true);
    expect(listCheckedIds(scheduler.sent)).toEqual(listIds(made));
  });

  it('sends a message twice when it could not update the index', async () => {
    const scheduler = aScheduler();
    await scheduler.due(30);
    const stuck = scheduler.worker(async (call, stage) => {
      if (call === 'due.postpone' && stage === 'calling') throw new Error('the table is busy');
    });

    expect(await stuck(() => true)).toMatchObject({ sent: 30, left: 30 });
    expect(await scheduler.run(() => true)).toMatchObject({ sent: 30, left: 0 });
    expect(new Set(scheduler.sent.map(({ id }) => id)).size).toBe(30);
  });
});

describe('killed scheduler run', () => {
  it('loses no source, for a kill at any call, and repeats only what it had not updated', async () => {
    const count = 60;
    for (let dies = 1; dies <= 60; dies += casesOf(3, 1)) {
      const scheduler = aScheduler();
      const made = await scheduler.due(count);
      let calls = 0;
      // From this call on, nothing takes effect, and no call returns.
      const killed = scheduler.worker(async () => {
        calls += 1;
        if (calls >= dies) await new Promise(() => undefined);
      });
      void killed(() => true);
      await new Promise((resolve) => setImmediate(resolve));
      const before = scheduler.sent.length;

      const done = await scheduler.run(() => true);

      expect(new Set(listCheckedIds(scheduler.sent)), `killed at call ${dies}`).toEqual(
        new Set(listIds(made)),
      );
      expect(before + done.sent).toBe(scheduler.sent.length);
      expect((await scheduler.run(() => true)).sent).toBe(0);
    }
  });
});
