import { describe, expect, it } from 'vitest';
import { parseError } from '../../../dashboard/src/text/attempt-errors.ts';

describe('errors of attempts', () => {
  it.each([
    ['the receiver answered 503', 'answered', '503'],
    ['timed out after 10 s', 'timedOut', '10'],
    ['connection refused', 'refused', ''],
    ['connection failed (EMFILE)', 'failed', 'EMFILE'],
    ['connection failed', 'failed', ''],
    ['TLS handshake failed (wrong version number)', 'handshake', 'wrong version number'],
    ['TLS certificate is not trusted (self-signed)', 'selfSigned', ''],
    ['TLS certificate is not trusted (crl has expired)', 'untrusted', 'crl has expired'],
  ])('%s is known', (text, kind, detail) => {
    expect(parseError(text)).toEqual({ kind, detail });
  });

  it('leaves others as they are', () => {
    expect(parseError('certificate has expired')).toBeUndefined();
  });
});
