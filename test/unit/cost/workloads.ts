import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { Measured } from '../../../lib/cost/measured.ts';
import { STANDARD, type Workload } from '../../../lib/cost/workload.ts';

/** The files of the repository. */
export const MEASURED = Measured.parse(
  JSON.parse(readFileSync(new URL('../../../lib/cost/measured.json', import.meta.url), 'utf8')),
);

/** A month of ten million deliveries to five hundred organizations with an endpoint each. */
export const aWorkload = (changes: Partial<Workload> = {}): Workload => ({
  ...STANDARD,
  deliveries: 10e6,
  messages: 10e6,
  endpoints: 500,
  bodySize: MEASURED.bodyBytes,
  organizations: 500,
  ...changes,
});

const share = fc.double({ min: 0, max: 1, noNaN: true });

/** Months of all kinds, empty ones included. */
export const workloads: fc.Arbitrary<Workload> = fc
  .record({
    deliveries: fc.integer({ min: 0, max: 10_000_000_000 }),
    endpointsOfAnEvent: fc.integer({ min: 1, max: 50 }),
    reads: fc.integer({ min: 0, max: 1_000_000_000 }),
    organizations: fc.integer({ min: 1, max: 100_000 }),
    failureRate: share,
    hangingRate: share,
    limitedRate: share,
    waitingRate: share,
    parkedRate: share,
    bodySize: fc.integer({ min: 1, max: 262_144 }),
    textSize: fc.integer({ min: 1, max: 262_144 }),
    retentionDays: fc.integer({ min: 0, max: 3650 }),
    receiverLatencyMs: fc.integer({ min: 0, max: 10_000 }),
    busyHours: fc.integer({ min: 1, max: 730 }),
    batch: fc.option(fc.integer({ min: 1, max: 1000 }), { nil: undefined }),
  })
  .map(({ endpointsOfAnEvent, batch, ...workload }) => ({
    ...workload,
    messages: workload.deliveries / endpointsOfAnEvent,
    endpoints: workload.organizations * endpointsOfAnEvent,
    ...(batch === undefined ? {} : { batch }),
  }));

/** Equal within the rounding errors of adding numbers of different sizes. */
export const isClose = (a: number, b: number): boolean =>
  Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
