import { describe, expect, it } from 'vitest';
import { dueOf, lookBack, positionAt, reachOf } from '../../../../packages/cli/src/forward/position.ts';
import { idAt } from './sandbox-fixture.ts';

const MINUTE = 60_000;
const NOW = Date.parse('2026-11-20T09:30:00Z');
const ago = (minutes: number) => idAt(NOW - minutes * MINUTE, 7);
const position = positionAt(NOW - 60 * MINUTE);

describe('the position in a listing', () => {
  it('is compared with ids by their time', () => {
    expect(ago(60) >= position.floor).toBe(true);
    expect(idAt(NOW - 60 * MINUTE - 1, 7) < position.floor).toBe(true);
    expect(lookBack(ago(0), 60 * MINUTE)).toBe(position.floor);
  });

  it('separates due deliveries from those that are not ready', () => {
    const sightings = [
      { id: ago(1), state: 'attempted' as const },
      { id: ago(2), state: 'waiting' as const },
      { id: ago(3), state: 'attempted' as const },
      { id: ago(4), state: 'ended' as const },
      { id: ago(61), state: 'attempted' as const },
    ];
    expect(dueOf(position, sightings)).toEqual({ due: [ago(3), ago(1)], waiting: ago(2) });
    expect(dueOf({ ...position, forwarded: new Set([ago(3)]) }, sightings).due).toEqual([ago(1)]);
  });

  it('is polled from a little earlier, back to what is not ready, and completely in a full poll', () => {
    const newest = ago(0);
    expect(reachOf(position, 'short', { newest })).toBe(lookBack(newest, MINUTE));
    expect(reachOf(position, 'short', { newest, waiting: ago(20) })).toBe(ago(20));
    expect(reachOf(position, 'short', { newest: ago(60) })).toBe(position.floor);
    expect(reachOf(position, 'short', {})).toBe(position.floor);
    expect(reachOf(position, 'full', { newest })).toBe(position.floor);
  });
});
