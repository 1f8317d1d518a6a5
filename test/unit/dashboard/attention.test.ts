import { describe, expect, it } from 'vitest';
import { attentionOf, listAttention, longestWait } from '../../../dashboard/src/pages/overview/attention.ts';

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
