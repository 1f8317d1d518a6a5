import { describe, expect, it } from 'vitest';
import { parseError } from '../../../dashboard/src/text/attempt-errors.ts';

describe('errors of attempts', () => {
  it.each([
    ['the receiver answered 503', 'answered', '503'],
    ['timed out after 10 s', 'timedOut', '10'],
    ['connection refused', 'refused', ''],
    ['connection failed (EHOSTUNREACH)', 'failed', 'EHOSTUNREACH'],
    ['connection failed', 'failed', ''],
  ])('%s is known', (text, kind, detail) => {
    expect(parseError(text)).toEqual({ kind, detail });
  });

  it('leaves others as they are', () => {
    expect(parseError('certificate has expired')).toBeUndefined();
  });
});
