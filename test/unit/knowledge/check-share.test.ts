import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeRefusalDelay, MAX_REFUSALS, ShareInUse } from '../../../functions/knowledge/check-source.ts';
import { RESEND_SECONDS } from '../../../functions/knowledge/sources.ts';
import { anOrganization, later, seconds } from '../../builders.ts';
import { aCheck, LEASE_SECONDS, SHARE, type TestCheck } from './source-check-fixture.ts';

/** Checks that have begun and do not end until `go` is called. */
function held(check: TestCheck) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const running: string[] = [];
  const processMessage = check.worker(async (call, stage) => {
    if (call !== 'page.look' || stage !== 'calling') return;
    running.push('check');
    await promise;
  });
  return { processMessage, running, go: resolve };
}

/** Runs everything that is ready. */
const idle = () => new Promise((resolve) => setImmediate(resolve));

describe('share of an organization', () => {
  it('bounds its concurrent checks, and those of no other organization', async () => {
    const check = aCheck();
    const sources = await Promise.all(Array.from({ length: 10 }, () => check.added()));
    const foreign = await check.added({ orgId: anOrganization().id });
    const { processMessage, running, go } = held(check);

    const deals = sources.map((source) =>
      processMessage(check.event(source)).catch((error: unknown) => error),
    );
    const others = processMessage(check.event(foreign));
    await idle();
    expect(running).toHaveLength(SHARE + 1);
    go();
    await others;

    const outcomes = await Promise.all(deals);
    expect(outcomes.filter((outcome) => outcome instanceof ShareInUse)).toHaveLength(10 - SHARE);
    expect(await check.sources.find(foreign, foreign.id)).toMatchObject({ checks: 1 });
    // A refused check is no start: it runs when its message is received again.
    for (const [index, source] of sources.entries()) {
      const refused = outcomes[index] instanceof ShareInUse;
      expect(await check.sources.find(source, source.id)).toMatchObject({
        starts: 0,
        checks: refused ? 0 : 1,
      });
      if (refused) await check.processMessage(check.event(source), 2);
      expect(await check.sources.find(source, source.id)).toMatchObject({ checks: 1 });
    }
  });

  it('is free again after a failed check, and after the lease of a lost worker', async () => {
    const check = aCheck();
    const source = await check.added();
    const failing = check.worker(async (call) => {
      if (call === 'page.look') throw new Error('a defect');
    });
    for (let times = 0; times <= SHARE; times += 1) {
      check.clock.elapse(LEASE_SECONDS);
      await expect(failing(check.event(source))).rejects.toThrow('a defect');
    }
    const lost = check.worker(async (call) => {
      if (call === 'page.look' || call === 'slots.release') throw new Error('the worker is lost');
    });
    for (let times = 1; times <= SHARE; times += 1)
      await expect(lost(check.event(await check.added()))).rejects.toThrow('lost');
    const other = await check.added();
    await expect(check.processMessage(check.event(other))).rejects.toThrow(ShareInUse);

    check.clock.elapse(LEASE_SECONDS);
    await check.processMessage(check.event(other));
    expect(await check.sources.find(other, other.id)).toMatchObject({ checks: 1 });
  });

  it('is not needed to delete the texts of a deleted source', async () => {
    const check = aCheck();
    const { processMessage, go } = held(check);
    const sources = await Promise.all(Array.from({ length: SHARE }, () => check.added()));
    const deals = sources.map((source) => processMessage(check.event(source)));
    await idle();
    await check.processMessage(check.deleted(await check.added()));
    go();
    await Promise.all(deals);
  });

  it('leaves a check that is often refused to the due index, which resends it soon', async () => {
    const check = aCheck();
    const { processMessage, go } = held(check);
    const sources = await Promise.all(Array.from({ length: SHARE }, () => check.added()));
    const deals = sources.map((source) => processMessage(check.event(source)));
    const waiting = await check.added();
    await idle();
    // A check that began before this event leaves the source like this.
    await check.sources.due.postpone(
      { ...waiting, dueAt: String(await check.sources.dueAt(waiting)) },
      later(check.clock.now(), seconds(3600)),
    );

    for (let receives = 1; receives < MAX_REFUSALS; receives += 1)
      await expect(check.processMessage(check.event(waiting), receives)).rejects.toThrow(ShareInUse);
    await check.processMessage(check.event(waiting), MAX_REFUSALS);

    expect(await check.sources.dueAt(waiting)).toBe(
      later(check.clock.now(), seconds(RESEND_SECONDS)).toISOString(),
    );
    expect(await check.sources.find(waiting, waiting.id)).toMatchObject({ starts: 0, checks: 0 });
    go();
    await Promise.all(deals);
  });
});

it('the delay of a refused message is 1 to 30 s, and all delays end before its source is due again', () => {
  const refusals = MAX_REFUSALS - 1;
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: refusals, maxLength: refusals }),
      (randoms) => {
        const waits = randoms.map((random, index) => computeRefusalDelay(index + 1, random));
        for (const wait of waits) {
          expect(Number.isInteger(wait)).toBe(true);
          expect(wait).toBeGreaterThanOrEqual(1);
          expect(wait).toBeLessThanOrEqual(30);
        }
        expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThan(RESEND_SECONDS);
      },
    ),
  );
  expect(computeRefusalDelay(1, 0)).toBe(1);
  expect(computeRefusalDelay(MAX_REFUSALS, 0)).toBe(30);
});
