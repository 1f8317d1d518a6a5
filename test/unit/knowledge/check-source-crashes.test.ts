import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { later } from '../../builders.ts';
import type { CallStage } from '../../doubles/interposed.ts';
import { casesOf } from '../../support/cases.ts';
import { aCheck, EVERY_SECONDS, LEASE_SECONDS, type TestCheck } from './source-check-fixture.ts';

/** A source with versions to compare, to keep and to delete, and a new text. */
async function aChangingSource() {
  const check = aCheck();
  const source = await check.added();
  for (const text of ['a b c d', 'a b c e', 'a b c f']) {
    check.shows(text);
    check.clock.elapse(EVERY_SECONDS);
    await check.processMessage(check.event(source));
  }
  await check.sources.notified(source, source.id, 3, check.clock.now());
  check.shows('g h i j');
  check.clock.elapse(EVERY_SECONDS);
  return { check, source };
}

/** The calls of an undisturbed check. */
async function callsOfACheck(): Promise<[call: string, stage: CallStage][]> {
  const { check, source } = await aChangingSource();
  const calls: [string, CallStage][] = [];
  await check.worker(async (call, stage) => void calls.push([call, stage]))(check.event(source));
  return calls;
}

/** Checks the state after a check of the changed text, independent of which worker ended it. */
async function expectEnded(check: TestCheck, source: Parameters<TestCheck['event']>[0]) {
  const stored = await check.sources.find(source, source.id);
  expect(stored).toMatchObject({
    content: { version: 4, words: 4 },
    measured: { from: 3, difference: 100 },
    baseline: 3,
    starts: 0,
  });
  expect(stored).not.toHaveProperty('lease');
  expect(stored?.stored.map(({ version }) => version)).toEqual(await check.sources.versionsOf(source));
  expect((await check.sources.notices()).filter(({ id }) => id === `${source.id}#changed#4`)).toHaveLength(1);
}

describe('check whose worker is lost', () => {
  it('has the same result when it is repeated, for a loss at any call', async () => {
    const calls = await callsOfACheck();
    expect(calls.map(([call]) => call)).toContain('sources.deleteVersions');
    for (const [call, stage] of calls) {
      const { check, source } = await aChangingSource();
      const event = check.event(source);
      const dying = check.worker(async (at, stageAt) => {
        if (at === call && stageAt === stage) throw new Error('the worker is lost');
      });
      await expect(dying(event), `${call} ${stage}`).rejects.toThrow('the worker is lost');

      check.clock.elapse(LEASE_SECONDS);
      await check.processMessage(event);

      await expectEnded(check, source);
    }
  });

  it('is due again even when its message is lost as well', async () => {
    const { check, source } = await aChangingSource();
    const dying = check.worker(async (call) => {
      if (call === 'page.look') throw new Error('the worker is lost');
    });
    await expect(dying(check.event(source))).rejects.toThrow();

    expect(await check.sources.dueAt(source)).toBe(check.clock.now().toISOString());
  });
});

describe('concurrent checks of one source', () => {
  it('create one version of a text and report it once, in any order of their calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.integer({ min: 2, max: 4 }),
        fc.array(fc.integer({ min: 0, max: LEASE_SECONDS }), { minLength: 4, maxLength: 4 }),
        async (scheduler, count, pauses) => {
          const { check, source } = await aChangingSource();
          const worker = check.worker((call, stage) =>
            scheduler.schedule(Promise.resolve(), `${call} ${stage}`),
          );
          const events = Array.from({ length: count }, (_, index) =>
            check.event(source, later(check.clock.now(), index)),
          );
          const running = events.map(async (event, index) => {
            await scheduler.schedule(Promise.resolve());
            // The lease of another worker may have ended by now.
            check.clock.elapse(pauses[index] ?? 0);
            return worker(event).catch(() => undefined);
          });
          await scheduler.waitFor(Promise.all(running));

          check.clock.elapse(LEASE_SECONDS);
          for (const event of events) await check.processMessage(event);
          await expectEnded(check, source);
        },
      ),
      { numRuns: casesOf(50, 200) },
    );
  });

  it('store the content that the worker with the lease found, not that of the late worker', async () => {
    const { check, source } = await aChangingSource();
    const late = check.worker(async (call, stage) => {
      if (call !== 'page.look' || stage !== 'answering') return;
      check.clock.elapse(LEASE_SECONDS);
      check.shows('k l m n');
      await check.processMessage(check.event(source));
    });

    await late(check.event(source));

    expect(await check.sources.text(source, { version: 4, parts: 1 })).toBe('k l m n');
    expect((await check.sources.notices()).filter(({ id }) => id.endsWith('#4'))).toHaveLength(1);
    expect(check.log.entries).toMatchObject([{ level: 'warn' }]);
  });
});
