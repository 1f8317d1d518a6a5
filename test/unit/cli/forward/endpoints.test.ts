import { describe, expect, it } from 'vitest';
import { chosen, startOf } from '../../../../packages/cli/src/forward/endpoints.ts';
import { BEGINNING, positionAt } from '../../../../packages/cli/src/forward/position.ts';

const NOW = Date.parse('2026-11-20T09:30:00Z');
const HOUR = 3_600_000;
const anEndpoint = (id: string, createdAt: number) => ({ id, createdAt: new Date(createdAt).toISOString() });
const old = anEndpoint('whk_old', NOW - HOUR);
const fromNow = { kind: 'ago', milliseconds: 0 } as const;
const nothing = { lookedAt: undefined, positions: new Map() };

describe('the start position of an endpoint', () => {
  it('is now, or as long ago as requested', () => {
    expect(startOf(old, nothing, fromNow, NOW)).toEqual(positionAt(NOW));
    expect(startOf(old, nothing, { kind: 'ago', milliseconds: HOUR }, NOW)).toEqual(positionAt(NOW - HOUR));
    expect(startOf(old, nothing, { kind: 'all' }, NOW)).toEqual(BEGINNING);
  });

  it('is where the program stopped, regardless of the arguments', () => {
    const saved = positionAt(NOW - 2 * HOUR);
    const state = { lookedAt: NOW - HOUR, positions: new Map([['whk_old', saved]]) };
    expect(startOf(old, state, { kind: 'all' }, NOW)).toEqual(saved);
  });

  it('is the first delivery of an endpoint created while the program was stopped', () => {
    const state = { lookedAt: NOW - HOUR, positions: new Map() };
    expect(startOf(anEndpoint('whk_new', NOW - HOUR + 1), state, fromNow, NOW)).toEqual(BEGINNING);
    expect(startOf(anEndpoint('whk_left_out', NOW - 2 * HOUR), state, fromNow, NOW)).toEqual(positionAt(NOW));
  });
});

describe('the endpoints to follow', () => {
  const all = [old, anEndpoint('whk_2', NOW)];

  it('are all, or those that were named', () => {
    expect(chosen(all, [])).toEqual(all);
    expect(chosen(all, ['whk_2'])).toEqual([all[1]]);
  });

  it('are refused by name when the sandbox does not have them', () => {
    expect(() => chosen(all, ['whk_2', 'whk_3'])).toThrow(
      'The sandbox has no endpoint whk_3: it has whk_old, whk_2.',
    );
    expect(() => chosen([], ['whk_3'])).toThrow('it has none');
  });
});
