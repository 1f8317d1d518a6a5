import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ForbiddenAddressError, ResolutionError } from '../../../../functions/platform/outbound/agent.ts';
import { DeadlineError, describeFailure } from '../../../../functions/platform/outbound/failures.ts';

function withCode(code: unknown): Error {
  return Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:443 at /var/task/index.mjs'), { code });
}

describe('describeFailure', () => {
  it.each([
    ['ECONNREFUSED', 'connection refused'],
    ['ECONNRESET', 'connection closed before the response'],
    ['EPIPE', 'connection closed before the response'],
    ['ETIMEDOUT', 'connection timed out'],
    ['EHOSTUNREACH', 'host is unreachable'],
    ['ENETUNREACH', 'network is unreachable'],
    ['EPROTO', 'TLS handshake failed'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'TLS handshake failed (wrong version number)'],
    ['CERT_HAS_EXPIRED', 'TLS certificate has expired'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'TLS certificate is not trusted (self-signed)'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'TLS certificate is not trusted (self-signed authority)'],
    [
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'TLS certificate is not trusted (unknown issuer or incomplete chain)',
    ],
    ['CERT_CHAIN_TOO_LONG', 'TLS certificate is not trusted (cert chain too long)'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'TLS certificate does not name this host'],
    ['HPE_HEADER_OVERFLOW', 'response headers are too large'],
    ['HPE_INVALID_CONSTANT', 'response is not valid HTTP'],
    ['EMFILE', 'connection failed (EMFILE)'],
    [undefined, 'connection failed'],
    [42, 'connection failed'],
  ])('describes %s: %s', (code, text) => {
    expect(describeFailure(withCode(code), 10_000)).toBe(text);
  });

  it("describes the errors of the service's own checks", () => {
    expect(describeFailure(new DeadlineError(), 10_000)).toBe('timed out after 10 s');
    expect(describeFailure(new ForbiddenAddressError('10.0.0.1'), 10_000)).toBe('address is not public');
    expect(describeFailure(new ResolutionError(true), 10_000)).toBe('host name does not resolve');
    expect(describeFailure(new ResolutionError(false), 10_000)).toBe('host name could not be resolved');
  });

  it('returns one short line without an address or a path for any error', () => {
    const codes = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[A-Z_]{1,400}$/),
      fc.stringMatching(/^(ERR_SSL|HPE|CERT)_[A-Z0-9_]{1,90}$/),
      fc.anything(),
    );
    fc.assert(
      fc.property(codes, (code) => {
        const text = describeFailure(withCode(code), 10_000);
        expect(text).toMatch(/^[\w ,()-]{1,300}$/);
        expect(text).not.toContain('10.1.2.3');
      }),
    );
    for (const thrown of [undefined, null, 'text', 7, {}]) {
      expect(describeFailure(thrown, 10_000)).toBe('connection failed');
    }
  });
});
