import { describe, expect, it } from 'vitest';
import type { Job } from '../../../dashboard/src/api/redeliveries.ts';
import { chainOf, countMissed, startOfOutage } from '../../../dashboard/src/pages/recover/chain.ts';
import {
  isComplete,
  isCountOf,
  quarterOf,
  recoveryStateOf,
  stateOf,
} from '../../../dashboard/src/pages/resend/jobs.ts';

const DAY = '2026-11-20T';
const at = (time: string): string => `${DAY}${time}:00.000Z`;

const anEndpoint = (id: string, createdAt: string, given: object = {}) => ({
  id,
  createdAt: at(createdAt),
  status: 'active' as const,
  disabledAt: null,
  consecutiveFailures: 0,
  predecessor: null,
  ...given,
});
const disabled = (disabledAt: string) => ({ status: 'auto_disabled' as const, disabledAt: at(disabledAt) });
const replacing = (id: string, failingSince: string | null, disabledAt: string) => ({
  predecessor: {
    id,
    failingSince: failingSince === null ? null : at(failingSince),
    disabledAt: at(disabledAt),
  },
});

describe('the recovery of an endpoint', () => {
  const old = anEndpoint('whk_1', '01:00', disabled('09:00'));
  const next = anEndpoint('whk_2', '10:00', replacing('whk_1', '08:00', '09:00'));

  it('begins with the disabled endpoint alone', () => {
    expect(chainOf('whk_1', [old])).toMatchObject({
      current: { id: 'whk_1' },
      replaced: [],
      failingSince: at('09:00'),
    });
  });

  it('is the same from the old and from the new endpoint', () => {
    for (const id of ['whk_1', 'whk_2'])
      expect(chainOf(id, [next, old])).toMatchObject({
        current: { id: 'whk_2' },
        replaced: [{ id: 'whk_1' }],
        failingSince: at('08:00'),
      });
  });

  it('is found by an old endpoint that is deleted', () => {
    expect(chainOf('whk_1', [next])).toMatchObject({
      current: { id: 'whk_2' },
      replaced: [],
      failingSince: at('08:00'),
    });
  });

  it('reaches back to the first outage when the new endpoint is disabled, too', () => {
    const again = anEndpoint('whk_2', '10:00', {
      ...replacing('whk_1', '08:00', '09:00'),
      ...disabled('11:00'),
    });
    expect(chainOf('whk_2', [again, old])).toMatchObject({
      current: { id: 'whk_2' },
      replaced: [{ id: 'whk_1' }],
      failingSince: at('08:00'),
    });
    const third = anEndpoint('whk_3', '12:00', replacing('whk_2', null, '11:00'));
    expect(chainOf('whk_1', [third, again, old])).toMatchObject({
      current: { id: 'whk_3' },
      replaced: [{ id: 'whk_1' }, { id: 'whk_2' }],
      failingSince: at('08:00'),
    });
  });

  it('does not reach back to an outage whose endpoint was deleted before the next one', () => {
    const later = anEndpoint('whk_2', '10:00', {
      ...replacing('whk_1', '08:00', '09:00'),
      ...disabled('20:00'),
    });
    expect(chainOf('whk_2', [later])?.failingSince).toBe(at('20:00'));
  });

  it('goes on with the newest of two endpoints that were registered at the same time', () => {
    const twin = anEndpoint('whk_3', '10:01', replacing('whk_1', '08:00', '09:00'));
    expect(chainOf('whk_1', [twin, next, old])?.current.id).toBe('whk_3');
  });

  it('has no beginning for an endpoint that was never disabled, and does not exist for an unknown one', () => {
    expect(chainOf('whk_9', [anEndpoint('whk_9', '01:00')])?.failingSince).toBeUndefined();
    expect(chainOf('whk_0', [old, next])).toBeUndefined();
  });

  it('resends from two hours before the first failure', () => {
    expect(startOfOutage(at('08:00'))).toBe(Date.parse(at('06:00')));
  });
});

describe('what an endpoint missed', () => {
  const hours = [
    { hour: at('07:00'), exhausted: 100, skipped: 100 },
    { hour: at('08:00'), exhausted: 3, skipped: 0 },
    { hour: at('09:00'), exhausted: 1, skipped: 5 },
  ];

  it('is counted from the hour of the first failure', () => {
    expect(countMissed({ from: at('01:00'), hours }, at('08:30'))).toEqual({ count: 9, isWhole: true });
  });

  it('is not all when the failure began before the statistics', () => {
    expect(countMissed({ from: at('07:00'), hours }, at('05:00'))).toEqual({ count: 209, isWhole: false });
  });
});

describe('the jobs of an endpoint', () => {
  const aJob = (given: Partial<Job>): Job => ({
    id: 'rdj_1',
    webhookId: 'whk_1',
    status: 'done',
    reason: null,
    from: at('06:00'),
    to: at('10:00'),
    what: 'missing',
    dryRun: false,
    statuses: ['exhausted', 'skipped'],
    examined: 10,
    redelivered: 10,
    eventTypes: [],
    firstEventAt: null,
    progress: 1,
    createdAt: at('10:00'),
    finishedAt: null,
    ...given,
  });
  const count = aJob({ dryRun: true });
  const order = { what: 'missing', from: at('06:00') } as const;

  it('show the last count until something is resent', () => {
    expect(stateOf([count], 'missing')).toEqual({ running: undefined, counted: count, resent: undefined });
    const resent = aJob({ createdAt: at('10:05') });
    expect(stateOf([resent, count], 'missing')).toMatchObject({ counted: undefined, resent });
    const again = aJob({ dryRun: true, createdAt: at('10:10') });
    expect(stateOf([again, resent, count], 'missing')).toMatchObject({ counted: again, resent });
  });

  it('show the one that is running, of any kind', () => {
    const running = aJob({ status: 'running', what: 'failed' });
    expect(stateOf([running, count], 'missing')).toMatchObject({ running, counted: count });
  });

  it('belong to an earlier recovery at an endpoint that was disabled again', () => {
    expect(recoveryStateOf({ status: 'active' }, [aJob({})])).toEqual(stateOf([aJob({})], 'missing'));
    expect(recoveryStateOf({ status: 'auto_disabled' }, [aJob({})])).toEqual(stateOf([], 'missing'));
  });

  it('are complete when all was resent, or when nothing was found', () => {
    expect(isComplete(stateOf([], 'missing'))).toBe(false);
    expect(isComplete(stateOf([count], 'missing'))).toBe(false);
    expect(isComplete(stateOf([aJob({ dryRun: true, redelivered: 0 })], 'missing'))).toBe(true);
    expect(isComplete(stateOf([aJob({ createdAt: at('10:05') }), count], 'missing'))).toBe(true);
    const stopped = aJob({ status: 'stopped', reason: 'cancelled' });
    expect(isComplete(stateOf([stopped], 'missing'))).toBe(false);
    expect(isComplete(stateOf([aJob({ what: 'failed' })], 'missing'))).toBe(false);
  });

  it('count what is asked for only if times and statuses are the same', () => {
    expect(isCountOf(count, order)).toBe(true);
    expect(isCountOf(count, { ...order, from: at('05:00') })).toBe(false);
    expect(isCountOf(count, { ...order, to: at('09:00') })).toBe(false);
    expect(isCountOf(count, { from: at('06:00') })).toBe(false);
    const failed = aJob({ dryRun: true, what: 'failed', statuses: ['exhausted'] });
    expect(isCountOf(failed, { from: at('06:00'), statuses: ['exhausted'] })).toBe(true);
    expect(isCountOf(failed, { from: at('06:00'), statuses: ['exhausted', 'skipped'] })).toBe(false);
  });

  it('are heard in quarters', () => {
    expect([0, 0.2, 0.25, 0.6, 0.99, 1].map(quarterOf)).toEqual([0, 0, 0.25, 0.5, 0.75, 1]);
  });
});
