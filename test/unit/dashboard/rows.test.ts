import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  freshFrom,
  type Row,
  updatedInPlace,
  withHead,
  withPage,
} from '../../../dashboard/src/pages/deliveries/rows.ts';

const NOW = Date.parse('2026-11-20T09:30:00.000Z');

/** A delivery that came into being so many seconds before now. */
const row = (secondsAgo: number, status: Row['status'] = 'succeeded', tail = '0'): Row => ({
  id: `dlv_${(NOW - secondsAgo * 1000).toString(16).padStart(12, '0')}${tail.padStart(20, '0')}`,
  status,
});

const newestFirst = (rows: readonly Row[]): Row[] => rows.toSorted((a, b) => (a.id < b.id ? 1 : -1));
const idsOf = (rows: readonly Row[]): string[] => rows.map(({ id }) => id);

/** Deliveries of the last hour, each second's at most once, newest first. */
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
  it('is asked for again from some seconds before the newest, since deliveries may come late', () => {
    expect(freshFrom([row(10), row(500)], NOW)).toBe(NOW - 25_000);
  });

  it('is asked for again from the oldest that may still change', () => {
    expect(freshFrom([row(10), row(300, 'retrying'), row(500)], NOW)).toBe(NOW - 300_000);
  });

  it('is at most a hundred deliveries, however many are open', () => {
    const rows = Array.from({ length: 500 }, (_, index) => row(index, 'pending'));
    expect(freshFrom(rows, NOW)).toBe(NOW - 99_000);
  });

  it('of an empty list begins some seconds ago', () => {
    expect(freshFrom([], NOW)).toBe(NOW - 15_000);
  });

  it('takes the place of what the list had of its time, and leaves what is older', () => {
    fc.assert(
      fc.property(aList, aList, fc.integer({ min: 0, max: 3600 }), (before, truth, seconds) => {
        const from = NOW - seconds * 1000;
        const isHead = ({ id }: Row) => Number.parseInt(id.slice(4, 16), 16) >= from;
        const merged = withHead(before, truth.filter(isHead), from);
        expect(merged.filter(isHead)).toEqual(truth.filter(isHead));
        expect(merged.filter((each) => !isHead(each))).toEqual(before.filter((each) => !isHead(each)));
        expect(idsOf(merged)).toEqual(idsOf(newestFirst(merged)));
      }),
    );
  });

  it('changes neither number nor order of the rows while somebody reads further down', () => {
    fc.assert(
      fc.property(aList, aList, (before, head) => {
        const { rows, fresh } = updatedInPlace(before, head);
        expect(idsOf(rows)).toEqual(idsOf(before));
        const newest = before[0]?.id ?? '';
        expect(fresh).toBe(head.filter(({ id }) => id > newest).length);
      }),
    );
  });

  it('tells what has become of rows that are in view', () => {
    const before = [row(1, 'pending'), row(2, 'retrying'), row(3)];
    const { rows } = updatedInPlace(before, [row(0), row(1, 'succeeded'), row(2, 'exhausted')]);
    expect(rows.map(({ status }) => status)).toEqual(['succeeded', 'exhausted', 'succeeded']);
  });

  it('gives the same rows where nothing has changed, so that nothing is drawn anew', () => {
    const before = [row(1), row(2)];
    expect(updatedInPlace(before, [row(1), row(2)]).rows).toBe(before);
  });
});

describe('a further page', () => {
  it('follows what is there, without what is there already', () => {
    fc.assert(
      fc.property(aList, fc.nat(300), fc.nat(20), (all, end, overlap) => {
        const rows = all.slice(0, end);
        const page = all.slice(Math.max(0, rows.length - overlap));
        expect(withPage(rows, page)).toEqual(all);
      }),
    );
  });
});
