import { describe, expect, it } from 'vitest';
import { attentionOf, longestWait } from '../../../dashboard/src/pages/overview/attention.ts';

const well = { status: 'active', failing: null, waitingSince: null } as const;
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

describe('the longest wait', () => {
  it('is the longest of all endpoints', () => {
    expect(longestWait([well, waiting, failing])).toBe(failing.waitingSince);
    expect(longestWait([well, disabled])).toBeNull();
    expect(longestWait([])).toBeNull();
  });
});
