import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type List,
  MAX_KEPT,
  MAX_WAITING,
  placeOf,
  rangeWith,
  withLook,
  withPage,
  withRow,
  withWaiting,
} from '../../../dashboard/src/pages/live/rows.ts';
import type { Row } from './followed-listing.ts';

const NOW = Date.parse('2026-11-20T09:30:00.000Z');

/** A delivery that was created this many seconds before now. */
const row = (secondsAgo: number, status: Row['status'] = 'succeeded', given: Partial<Row> = {}): Row => ({
  id: `dlv_${(NOW - secondsAgo * 1000).toString(16).padStart(12, '0')}${'0'.repeat(20)}`,
  status,
  attempts: 1,
  nextRetryAt: null,
  lastError: null,
  createdAt: new Date(NOW - secondsAgo * 1000).toISOString(),
  ...given,
});

const listOf = (rows: readonly Row[], given: Partial<List<Row>> = {}): List<Row> => ({
  rows,
  next: null,
  waiting: [],
  cut: undefined,
  ...given,
});
const complete = (rows: readonly Row[], secondsAgo: number) => ({
  rows,
  from: NOW - secondsAgo * 1000,
  isComplete: true,
});
const newestFirst = (rows: readonly Row[]): Row[] => rows.toSorted((a, b) => (a.id < b.id ? 1 : -1));
const idsOf = (rows: readonly Row[]): string[] => rows.map(({ id }) => id);
const upTo = (count: number, first = 0) => Array.from({ length: count }, (_, index) => row(first + index));

/** Deliveries of the last hour, at most one for each second, newest first. */
const aList = fc
  .uniqueArray(
    fc.record({
      seconds: fc.integer({ min: 0, max: 3600 }),
      status: fc.constantFrom<Row['status']>('pending', 'retrying', 'succeeded', 'exhausted', 'skipped'),
    }),
    { selector: ({ seconds }) => seconds, maxLength: 300 },
  )
  .map((given) => newestFirst(given.map(({ seconds, status }) => row(seconds, status))));

describe('the top of a list of deliveries', () => {
  it('replaces rows of its own time, and keeps older ones', () => {
    fc.assert(
      fc.property(aList, aList, fc.integer({ min: 0, max: 3600 }), (before, truth, seconds) => {
        const isHead = ({ id }: Row) => Number.parseInt(id.slice(4, 16), 16) >= NOW - seconds * 1000;
        const { rows } = withLook(listOf(before), complete(truth.filter(isHead), seconds), true);
        expect(rows.filter(isHead)).toEqual(truth.filter(isHead));
        expect(rows.filter((each) => !isHead(each))).toEqual(before.filter((each) => !isHead(each)));
        expect(idsOf(rows)).toEqual(idsOf(newestFirst(rows)));
      }),
    );
  });

  it('changes neither number nor order of the rows while the user reads further down', () => {
    fc.assert(
      fc.property(aList, aList, (before, head) => {
        const { rows, waiting } = withLook(listOf(before), complete(head, 3600), false);
        expect(idsOf(rows)).toEqual(idsOf(before));
        expect(idsOf(waiting)).toEqual(idsOf(head).filter((id) => !idsOf(before).includes(id)));
      }),
    );
  });

  it.each<[string, Partial<Row>]>([
    ['an end', { status: 'succeeded' }],
    ['an attempt', { attempts: 2 }],
    ['when the next one is due', { nextRetryAt: new Date(NOW).toISOString() }],
    ['what went wrong', { lastError: 'The receiver answered 500.' }],
  ])('updates %s', (_, change) => {
    const read = complete([{ ...row(1, 'retrying'), ...change }], 5);
    for (const isAtTop of [true, false])
      expect(withLook(listOf([row(1, 'retrying')]), read, isAtTop).rows).toEqual([
        { ...row(1, 'retrying'), ...change },
      ]);
  });

  it('returns the same list when nothing has changed, so that nothing is rendered again', () => {
    fc.assert(
      fc.property(aList, fc.boolean(), (rows, isAtTop) => {
        const list = listOf(rows);
        expect(withLook(list, complete(rows, 3600), isAtTop)).toBe(list);
      }),
    );
  });

  it('removes no rows below when it was not read to its end', () => {
    const list = listOf(upTo(200));
    const after = withLook(list, { rows: upTo(100), from: NOW - 3_600_000, isComplete: false }, true);
    expect(after).toBe(list);
  });

  it('ends the list when it does not reach the existing rows, and continues from there', () => {
    const look = { rows: upTo(300), from: NOW - 3_600_000, isComplete: false };
    const after = withLook(listOf([row(5000)]), look, true);
    expect(after.rows).toEqual(look.rows);
    expect(after.next).toEqual({ to: NOW - 299_000 + 1 });
    const waiting = withLook(listOf([row(5000)]), look, false);
    expect(idsOf(waiting.rows)).toEqual(idsOf([row(5000)]));
    expect(withWaiting(waiting)).toEqual(after);
  });

  it('does not count rows as new that belong to a page not loaded yet', () => {
    const list = listOf(upTo(10), { next: { cursor: 'c' } });
    expect(withLook(list, complete(upTo(50), 60), false)).toBe(list);
  });

  it('keeps at most some hundred new rows waiting, the newest', () => {
    const before = listOf([row(9000)]);
    const looks = [upTo(200, 400), upTo(200, 200), upTo(200)];
    const after = looks.reduce(
      (list, rows) => withLook(list, complete(rows, 3600 - rows.length), false),
      before,
    );
    expect(after.waiting.length).toBeLessThanOrEqual(MAX_WAITING);
    expect(withWaiting(after).rows[0]).toEqual(row(0));
  });

  it('is all that is kept of a long list, whose rest can be reloaded', () => {
    const grown = withLook(listOf(upTo(MAX_KEPT, 5)), complete(upTo(5), 4), true);
    expect(grown.rows.length).toBeLessThan(MAX_KEPT);
    const last = grown.rows.length - 1;
    expect(grown.next).toEqual({ to: NOW - last * 1000 + 1 });
    const again = withPage(grown, upTo(100, last), { cursor: 'c' });
    expect(idsOf(again.rows)).toEqual(idsOf(upTo(last + 100)));
  });
});

describe('a row that was polled alone', () => {
  const list = listOf([row(1, 'retrying'), row(2, 'retrying')]);
  it('is updated', () => {
    const after = withRow(list, row(2).id, row(2), { isAtTop: false, isLike: false });
    expect(after.rows).toEqual([row(1, 'retrying'), row(2)]);
    expect(withRow(list, row(2).id, row(2, 'retrying'), { isAtTop: true, isLike: true })).toBe(list);
  });
  it('is removed at the top when it no longer matches or is missing', () => {
    for (const given of [row(2), undefined])
      expect(withRow(list, row(2).id, given, { isAtTop: true, isLike: false }).rows).toEqual([
        row(1, 'retrying'),
      ]);
  });
});

describe('a further page', () => {
  it('is appended without rows that the list has', () => {
    fc.assert(
      fc.property(aList, fc.nat(300), fc.nat(20), (all, end, overlap) => {
        const rows = all.slice(0, end);
        const page = all.slice(Math.max(0, rows.length - overlap));
        expect(withPage(listOf(rows), page, null).rows).toEqual(all);
      }),
    );
  });
});

describe('the place of a row', () => {
  it('is its index, or where it would be inserted', () => {
    fc.assert(
      fc.property(aList, fc.integer({ min: 0, max: 3600 }), (rows, seconds) => {
        const { id } = row(seconds);
        const place = rows.findIndex((each) => each.id <= id);
        expect(placeOf(rows, id)).toBe(place === -1 ? rows.length : place);
      }),
    );
  });
});

describe('rendered rows', () => {
  it('are those in view, some around them, and the focused one, in order', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.nat(499),
        fc.nat(40),
        fc.nat(499),
        (count, start, size, more) => {
          const startIndex = Math.min(start, count - 1);
          const endIndex = Math.min(startIndex + size, count - 1);
          const indices = rangeWith({ startIndex, endIndex, overscan: 12, count }, more);
          expect(indices).toEqual([...new Set(indices)].toSorted((a, b) => a - b));
          expect(indices.at(0)).toBeGreaterThanOrEqual(0);
          expect(indices.at(-1)).toBeLessThan(count);
          expect(indices.includes(more)).toBe(more < count);
          for (let index = startIndex; index <= endIndex; index += 1) expect(indices).toContain(index);
          expect(indices.length).toBeLessThanOrEqual(size + 1 + 2 * 12 + 1);
        },
      ),
    );
  });
});
