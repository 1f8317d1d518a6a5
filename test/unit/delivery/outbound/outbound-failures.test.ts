import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeFailure } from '../../../../functions/delivery/outbound/agent.ts';

function withCode(code: unknown): Error {
  return Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:443 at /var/task/index.mjs'), { code });
}

describe('describeFailure', () => {
  it.each([
    ['ECONNREFUSED', 'connection_refused', 'connection refused'],
    ['ECONNRESET', 'connection_closed', 'connection closed before the response'],
    ['EPIPE', 'connection_closed', 'connection closed before the response'],
    ['ETIMEDOUT', 'timeout', 'connection timed out'],
    ['EHOSTUNREACH', 'connection_refused', 'host is unreachable'],
    ['ENETUNREACH', 'connection_refused', 'network is unreachable'],
    ['EADDRNOTAVAIL', 'connection_refused', 'network is unreachable'],
    ['EPROTO', 'tls', 'TLS handshake failed'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls', 'TLS handshake failed (wrong version number)'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls', 'TLS certificate does not name this host'],
    ['ERR_TLS_CERT_ALTNAME_FORMAT', 'tls', 'TLS failed (cert altname format)'],
    ['HPE_HEADER_OVERFLOW', 'invalid_response', 'response headers are too large'],
    ['HPE_INVALID_CONSTANT', 'invalid_response', 'response is not valid HTTP'],
    ['EMFILE', 'connection_closed', 'connection failed (EMFILE)'],
    [undefined, 'connection_closed', 'connection failed'],
    [42, 'connection_closed', 'connection failed'],
    ['constructor', 'connection_closed', 'connection failed'],
  ])('describes %s: %s, %s', (code, errorCode, error) => {
    expect(describeFailure(withCode(code), 10_000)).toEqual({ errorCode, error });
  });

  // The names that Node.js gives to OpenSSL's verification errors (ncrypto, X509Pointer::ErrorCode).
  it.each([
    ['UNABLE_TO_GET_ISSUER_CERT', '(unknown issuer)'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', '(unknown issuer)'],
    ['UNABLE_TO_GET_CRL', '(unable to get crl)'],
    ['UNABLE_TO_DECRYPT_CERT_SIGNATURE', '(unable to decrypt cert signature)'],
    ['UNABLE_TO_DECRYPT_CRL_SIGNATURE', '(unable to decrypt crl signature)'],
    ['UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY', '(unreadable key of its issuer)'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', '(unknown issuer or incomplete chain)'],
    ['CERT_SIGNATURE_FAILURE', '(cert signature failure)'],
    ['CRL_SIGNATURE_FAILURE', '(crl signature failure)'],
    ['CERT_NOT_YET_VALID', 'is not valid yet'],
    ['CERT_HAS_EXPIRED', 'has expired'],
    ['CRL_NOT_YET_VALID', '(crl not yet valid)'],
    ['CRL_HAS_EXPIRED', '(crl has expired)'],
    ['ERROR_IN_CERT_NOT_BEFORE_FIELD', '(error in cert not before field)'],
    ['ERROR_IN_CERT_NOT_AFTER_FIELD', '(error in cert not after field)'],
    ['ERROR_IN_CRL_LAST_UPDATE_FIELD', '(error in crl last update field)'],
    ['ERROR_IN_CRL_NEXT_UPDATE_FIELD', '(error in crl next update field)'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', '(self-signed)'],
    ['SELF_SIGNED_CERT_IN_CHAIN', '(self-signed authority)'],
    ['CERT_CHAIN_TOO_LONG', '(cert chain too long)'],
    ['CERT_REVOKED', 'is revoked'],
    ['INVALID_CA', '(its issuer is no authority)'],
    ['PATH_LENGTH_EXCEEDED', '(chain too long)'],
    ['INVALID_PURPOSE', 'is not for servers'],
    ['CERT_UNTRUSTED', '(cert untrusted)'],
    ['CERT_REJECTED', '(cert rejected)'],
    ['HOSTNAME_MISMATCH', 'does not name this host'],
    ['UNSPECIFIED', '(weak key or signature, or another fault)'],
  ])('describes %s: tls, … %s', (code, end) => {
    const { error, errorCode } = describeFailure(withCode(code), 10_000);
    expect([errorCode, error.slice(0, 16), error.slice(-end.length)]).toEqual([
      'tls',
      'TLS certificate ',
      end,
    ]);
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
        const text = describeFailure(withCode(code), 10_000).error;
        expect(text).toMatch(/^[\w ,()-]{1,300}$/);
        expect(text).not.toContain('10.1.2.3');
      }),
    );
    for (const thrown of [undefined, null, 'text', 7, {}]) {
      expect(describeFailure(thrown, 10_000).error).toBe('connection failed');
    }
  });
});
