import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bill } from '../../../lib/cost/pricing.ts';
import { ALL_PRICED, sumOf } from '../../../lib/cost/quantities.ts';
import { PARTS, totalOf, usage } from '../../../lib/cost/usage.ts';
import type { Workload } from '../../../lib/cost/workload.ts';
import { aWorkload, isClose, MEASURED, workloads } from './workloads.ts';

const usdOf = (workload: Workload): number => bill(totalOf(usage(workload, MEASURED))).usd;
/** The usage of deliveries, multiplied. */
const timesOf = (workload: Workload, factor: number): Workload => ({
  ...workload,
  deliveries: workload.deliveries * factor,
  messages: workload.messages * factor,
  reads: workload.reads * factor,
});

describe('the usage of a month', () => {
  it('is never negative', () => {
    fc.assert(
      fc.property(workloads, (workload) => {
        const total = totalOf(usage(workload, MEASURED));
        for (const name of ALL_PRICED) expect(total[name]).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('is only the fixed usage when nothing happens', () => {
    const idle = usage(aWorkload({ deliveries: 0, messages: 0 }), MEASURED);

    expect(totalOf(idle)).toEqual(sumOf([idle.standing, idle.storage]));
    expect(idle.storage.tableGbMonths).toBe(0);
    expect(idle.standing.alarms).toBe(MEASURED.template.alarms);
    expect(bill(idle.standing).usd).toBeGreaterThan(0);
  });

  it('grows linearly with deliveries while batches are as full', () => {
    fc.assert(
      fc.property(
        workloads,
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 2, max: 50 }),
        (workload, batch, factor) => {
          const filled = { ...workload, batch };
          const [none, few, many] = [0, 1, factor].map((times) => usdOf(timesOf(filled, times)));
          expect(isClose((few ?? 0) - (none ?? 0), ((many ?? 0) - (none ?? 0)) / factor)).toBe(true);
        },
      ),
    );
  });

  it('costs more in all, and at most as much for each, with more deliveries', () => {
    fc.assert(
      fc.property(
        workloads.filter(({ deliveries }) => deliveries > 0),
        fc.double({ min: 1, max: 100, noNaN: true }),
        (workload, factor) => {
          const standing = usdOf(timesOf(workload, 0));
          const [few, many] = [usdOf(workload), usdOf(timesOf(workload, factor))];
          expect(many).toBeGreaterThanOrEqual(few * (1 - 1e-9));
          expect((many - standing) / factor).toBeLessThanOrEqual((few - standing) * (1 + 1e-9) + 1e-9);
        },
      ),
    );
  });

  it.each([
    ['attempts that fail', 'failureRate', {}],
    // Instead of successful deliveries, because those that fail slowly cost as much.
    ['deliveries at endpoints that hang', 'hangingRate', { failureRate: 0 }],
  ] as const)('costs more with more %s', (_, rate, others) => {
    fc.assert(
      fc.property(workloads, fc.double({ min: 0, max: 1, noNaN: true }), (workload, other) => {
        const filled = { ...workload, batch: workload.batch ?? 10, ...others };
        const [less, more] = [filled[rate], other].sort((a, b) => a - b);
        const [cheap, dear] = [usdOf({ ...filled, [rate]: less }), usdOf({ ...filled, [rate]: more })];
        expect(dear).toBeGreaterThanOrEqual(cheap * (1 - 1e-9));
      }),
    );
  });

  it.each([
    ['bytes of a body', { bodySize: 20_000 }],
    ['bytes of a text', { textSize: 20_000 }],
    ['reads', { reads: 1e6 }],
    ['days for which conversations are kept', { retentionDays: 365 }],
    ['time that receivers take', { receiverLatencyMs: 5_000 }],
    ['endpoints that share batches', { endpoints: 100_000, organizations: 100_000 }],
  ])('costs more with more %s', (_, changes) => {
    expect(usdOf(aWorkload(changes))).toBeGreaterThan(usdOf(aWorkload()));
  });

  it('costs less when the same volume comes in fewer hours, because batches are fuller', () => {
    const busy = { deliveries: 1e9, messages: 1e9 };

    expect(usdOf(aWorkload({ ...busy, busyHours: 100 }))).toBeLessThan(
      usdOf(aWorkload({ ...busy, busyHours: 730 })),
    );
  });

  it('is the sum of its parts', () => {
    fc.assert(
      fc.property(workloads, (workload) => {
        const parts = usage(workload, MEASURED);
        const total = totalOf(parts);
        for (const name of ALL_PRICED)
          expect(
            isClose(
              total[name],
              PARTS.reduce((sum, part) => sum + parts[part][name], 0),
            ),
          ).toBe(true);
      }),
    );
  });

  it('sends each attempt with its body over the network', () => {
    const { attempts } = usage(aWorkload({ deliveries: 1e6, failureRate: 0, bodySize: 2048 }), MEASURED);

    expect(attempts.egressGb).toBeCloseTo((1e6 * (2048 + MEASURED.wireBytes)) / 2 ** 30, 9);
  });

  it('invokes the dispatcher once for each batch, and polls the queue twice', () => {
    const { attempts } = usage(aWorkload({ deliveries: 1e6, batch: 10 }), MEASURED);

    expect(attempts.invocations).toBeCloseTo(1e5, 6);
    expect(attempts.queueRequests).toBeCloseTo(2e5, 6);
  });

  it('needs one dispatcher invocation for ten concurrent hanging attempts, and moves parked deliveries', () => {
    const { hangingAttempts } = usage(aWorkload({ deliveries: 1e6, hangingRate: 1, batch: 10 }), MEASURED);

    const [attempts, moved] = [8e6, 2e6];
    expect(hangingAttempts.invocations).toBeCloseTo((attempts + moved) / 10, 6);
    // A message that is only moved sends no request.
    expect(hangingAttempts.egressGb).toBeCloseTo(
      (attempts * (MEASURED.bodyBytes + MEASURED.wireBytes)) / 2 ** 30,
      9,
    );
    expect(hangingAttempts.gbSeconds).toBeGreaterThan(
      ((attempts / 10) * 10 * (MEASURED.template.memory.dispatch ?? 0)) / 1024,
    );
  });

  it('adds for limited endpoints a write for each in a batch and each message beyond the share, and a message for each wait', () => {
    const limitsOf = (changes: Partial<Workload>) =>
      usage(aWorkload({ deliveries: 1e6, endpoints: 1, batch: 10, limitedRate: 1, ...changes }), MEASURED)
        .limits;
    const { turn, queuedWait } = MEASURED.limited;

    const [none, unhindered] = [limitsOf({ limitedRate: 0 }), limitsOf({})];
    expect(none).toEqual(sumOf([]));
    expect(unhindered).toMatchObject({ invocations: 0, queueRequests: 0, egressGb: 0 });
    expect(unhindered.writeUnits).toBeCloseTo(7e5 * turn.writes, 6);
    expect(limitsOf({ endpoints: 1e9 }).writeUnits).toBeCloseTo(1e6 * turn.writes, -2);

    const waiting = limitsOf({ waitingRate: 1 });
    expect(waiting.writeUnits).toBeGreaterThanOrEqual(14e5 * turn.writes + 1e6 * queuedWait.writes);
    expect(waiting.queueRequests).toBeCloseTo(1e6 * queuedWait.sqsRequests + 2e5, 6);
    expect(waiting).toMatchObject({ invocations: 1e5, egressGb: 0 });
    expect(limitsOf({ parkedRate: 1 }).writeUnits).toBeGreaterThan(waiting.writeUnits);
  });

  it("logs the functions' own lines, and no line of Lambda itself", () => {
    const silent = {
      ...MEASURED,
      dispatchBatch: { ...MEASURED.dispatchBatch, logBytes: 0, logLines: 0 },
      deliveries: {
        ...MEASURED.deliveries,
        succeeded: {
          ...MEASURED.deliveries.succeeded,
          dispatch: { ...MEASURED.deliveries.succeeded.dispatch, logBytes: 0, logLines: 0 },
        },
      },
    };
    expect(usage(aWorkload(), silent).attempts.logGb).toBe(0);
    expect(usage(aWorkload(), MEASURED).attempts.logGb).toBeGreaterThan(0);
  });
});
