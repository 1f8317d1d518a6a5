import { describe, expect, it } from 'vitest';
import { listOf } from '../../../dashboard/src/pages/overview/lists.ts';

const NOTHING = { succeeded: 0, exhausted: 0, skipped: 0, pending: 0 };
const failing = { webhookId: 'whk_1', totals: { ...NOTHING, exhausted: 2, skipped: 1 } };
const other = { webhookId: 'whk_2', totals: { ...NOTHING, exhausted: 1, succeeded: 9 } };

describe('the list that a number of the overview counts', () => {
  it('is the list of the endpoint that has all of them', () => {
    expect(listOf('skipped', [failing, other], 'day')).toBe('/deliveries/whk_1?status=skipped&time=day');
    expect(listOf('pending', [{ ...failing, totals: { ...NOTHING, pending: 1 } }], 'week')).toBe(
      '/deliveries/whk_1?status=open&time=week',
    );
  });

  it('is a list of all endpoints where several have some', () => {
    expect(listOf('exhausted', [failing, other], 'day')).toBe('/failures?status=exhausted&time=day');
    const skipping = { ...other, totals: { ...NOTHING, skipped: 3 } };
    expect(listOf('skipped', [failing, skipping], 'day')).toBe('/events?outcome=skipped&time=day');
    expect(listOf('succeeded', [other, { ...other, webhookId: 'whk_3' }], 'week')).toBe(
      '/events?outcome=succeeded&time=week',
    );
  });
});
