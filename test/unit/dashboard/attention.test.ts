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

describe('what of an endpoint needs attention', () => {
  it.each([
    ['nothing, while it takes what it is sent', well, undefined],
    ['that deliveries wait, before the first of them has failed for good', waiting, 'waiting'],
    ['that deliveries have failed, whatever waits besides', failing, 'failing'],
    ['that it was disabled, whatever is still open', { ...waiting, ...disabled }, 'disabled'],
  ] as const)('is %s', (_, endpoint, expected) => {
    expect(attentionOf(endpoint)).toBe(expected);
  });
});

describe('the longest wait', () => {
  it('is that of all endpoints together', () => {
    expect(longestWait([well, waiting, failing])).toBe(failing.waitingSince);
    expect(longestWait([well, disabled])).toBeNull();
    expect(longestWait([])).toBeNull();
  });
});
