import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attentionOf, listAttention, longestWait } from '../../../dashboard/src/pages/overview/attention.ts';
import {
  bucketsOf,
  hoursOfBar,
  roundUp,
  successRate,
  totalOf,
} from '../../../dashboard/src/pages/overview/buckets.ts';
import { listOf } from '../../../dashboard/src/pages/overview/lists.ts';
import { countDone, isShown, keptIn, NOTHING_KEPT } from '../../../dashboard/src/pages/overview/steps.ts';

const url = 'https://receiver.example/hooks';
const well = { status: 'active', failing: null, waitingSince: null, url } as const;
const waiting = { ...well, waitingSince: '2026-11-20T09:10:00.000Z' };
const failing = {
  ...waiting,
  failing: { since: null, failuresUntilDisabled: 7, disablesAt: null },
  waitingSince: '2026-11-20T09:05:00.000Z',
};
const disabled = { ...well, status: 'auto_disabled' } as const;

describe('the attention line of an endpoint', () => {
  it.each([
    ['empty while it accepts deliveries', well, undefined],
    ['that deliveries wait, before the first has failed permanently', waiting, 'waiting'],
    ['that deliveries have failed, even when others wait', failing, 'failing'],
    ['that it was disabled, even with open deliveries', { ...waiting, ...disabled }, 'disabled'],
  ] as const)('is %s', (_, endpoint, expected) => {
    expect(attentionOf(endpoint)).toBe(expected);
  });
});

describe('what needs attention', () => {
  it('is listed with what is disabled first, and last what was replaced by an endpoint of its URL', () => {
    const other = { ...disabled, url: `${url}/other` };
    const listed = listAttention([well, waiting, disabled, failing, other]);
    expect(listed.map(({ attention }) => attention)).toEqual(['disabled', 'failing', 'waiting', 'replaced']);
    expect(listed.map(({ row }) => row)).toEqual([other, failing, waiting, disabled]);
  });
});

describe('the longest wait', () => {
  it('is the longest of all endpoints', () => {
    expect(longestWait([well, waiting, failing])).toBe(failing.waitingSince);
    expect(longestWait([well, disabled])).toBeNull();
    expect(longestWait([])).toBeNull();
  });
});

const HOUR = 3_600_000;
const FROM = Date.parse('2026-11-19T10:00:00.000Z');
const at = (hour: number): string => new Date(FROM + hour * HOUR).toISOString();

const count = fc.nat(1000);
/** This many hours, some of them without deliveries. */
const someHours = fc.integer({ min: 1, max: 168 }).chain((length) =>
  fc.record({
    length: fc.constant(length),
    hours: fc.uniqueArray(fc.nat(length - 1)).chain((numbers) =>
      fc.tuple(
        ...numbers.map((number) =>
          fc.record({
            hour: fc.constant(at(number)),
            succeeded: count,
            exhausted: count,
            skipped: count,
            pending: count,
          }),
        ),
      ),
    ),
  }),
);

describe('the bars of the overview', () => {
  it('contain every delivery once, in at most as many bars as fit', () => {
    fc.assert(
      fc.property(someHours, fc.integer({ min: 1, max: 200 }), ({ hours, length }, most) => {
        const buckets = bucketsOf(hours, { from: at(0), to: at(length) }, most);
        expect(buckets.length).toBeLessThanOrEqual(most);
        const sum = (all: readonly Parameters<typeof totalOf>[0][]) =>
          all.reduce((total, each) => total + totalOf(each), 0);
        expect(sum(buckets)).toBe(sum(hours));
      }),
    );
  });

  it('are spaced by the stated number of hours', () => {
    fc.assert(
      fc.property(someHours, fc.integer({ min: 1, max: 200 }), ({ hours, length }, most) => {
        const range = { from: at(0), to: at(length) };
        const starts = bucketsOf(hours, range, most).map(({ start }) => start);
        expect(starts).toEqual(starts.map((_, index) => at(index * hoursOfBar(range, most))));
      }),
    );
  });

  it('include hours without deliveries', () => {
    const hour = { hour: at(2), succeeded: 3, exhausted: 1, skipped: 0, pending: 0 };
    const buckets = bucketsOf([hour], { from: at(0), to: at(4) }, 10);
    expect(buckets.map(({ start, succeeded }) => [start, succeeded])).toEqual([
      [at(0), 0],
      [at(1), 0],
      [at(2), 3],
      [at(3), 0],
    ]);
  });

  it('end at a round number that no bar exceeds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 9 }), (value) => {
        const top = roundUp(value);
        expect(top).toBeGreaterThanOrEqual(Math.max(1, value));
        expect(top).toBeLessThanOrEqual(Math.max(1, value * 2));
        expect(String(top)).toMatch(/^\d0*$/);
      }),
    );
  });
});

describe('the success rate', () => {
  it('counts failed and skipped deliveries against it', () => {
    expect(successRate({ succeeded: 3, exhausted: 1, skipped: 0 })).toBe(0.75);
    expect(successRate({ succeeded: 3, exhausted: 1, skipped: 2 })).toBe(0.5);
    expect(successRate({ succeeded: 0, exhausted: 0, skipped: 2 })).toBe(0);
  });

  it('is absent where none has ended', () => {
    expect(successRate({ succeeded: 0, exhausted: 0, skipped: 0 })).toBeUndefined();
  });
});

const NOTHING = { succeeded: 0, exhausted: 0, skipped: 0, pending: 0 };
const failed = { webhookId: 'whk_1', totals: { ...NOTHING, exhausted: 2, skipped: 1 } };
const other = { webhookId: 'whk_2', totals: { ...NOTHING, exhausted: 1, succeeded: 9 } };

describe('the list that a number of the overview counts', () => {
  it('is the list of the endpoint that has all of them', () => {
    expect(listOf('skipped', [failed, other], 'day')).toBe('/deliveries/whk_1?status=skipped&time=day');
    expect(listOf('pending', [{ ...failed, totals: { ...NOTHING, pending: 1 } }], 'week')).toBe(
      '/deliveries/whk_1?status=open&time=week',
    );
  });

  it('is a list of all endpoints where several have some', () => {
    expect(listOf('exhausted', [failed, other], 'day')).toBe('/failures?status=exhausted&time=day');
    const skipping = { ...other, totals: { ...NOTHING, skipped: 3 } };
    expect(listOf('skipped', [failed, skipping], 'day')).toBe('/events?outcome=skipped&time=day');
    expect(listOf('succeeded', [other, { ...other, webhookId: 'whk_3' }], 'week')).toBe(
      '/events?outcome=succeeded&time=week',
    );
  });
});

const NONE = { endpoint: false, test: false, verify: false, live: false };
const ALL = { endpoint: true, test: true, verify: true, live: true };

describe('first steps', () => {
  it('are counted', () => {
    expect([countDone(NONE), countDone({ ...NONE, test: true }), countDone(ALL)]).toEqual([0, 1, 4]);
  });

  it('are shown to admins until all are done or they are hidden', () => {
    expect(isShown(NONE, NOTHING_KEPT, true)).toBe(true);
    expect(isShown({ ...ALL, verify: false }, NOTHING_KEPT, true)).toBe(true);
    expect(isShown(ALL, NOTHING_KEPT, true)).toBe(false);
    expect(isShown(NONE, { ...NOTHING_KEPT, isHidden: true }, true)).toBe(false);
  });

  it('are shown to members until events can arrive', () => {
    expect(isShown(NONE, NOTHING_KEPT, false)).toBe(true);
    expect(isShown({ ...NONE, endpoint: true }, NOTHING_KEPT, false)).toBe(true);
    expect(isShown({ ...NONE, endpoint: true, live: true }, NOTHING_KEPT, false)).toBe(false);
  });

  it.each([null, '', '{', '7', 'null', '[]', '{"isHidden":"yes"}'])('keep nothing of %j', (text) => {
    expect(keptIn(text)).toEqual(NOTHING_KEPT);
  });

  it('keep what was stored', () => {
    const kept = { isVerified: true, isHidden: false };
    expect(keptIn(JSON.stringify(kept))).toEqual(kept);
  });
});
