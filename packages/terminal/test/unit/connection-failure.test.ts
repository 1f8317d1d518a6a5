import { describe, expect, it } from 'vitest';
import { explainConnectionFailure, findConnectionFailure } from '../../src/connection-failure.ts';

const withCode = (code: string) => Object.assign(new Error(`connect ${code} 127.0.0.1:1`), { code });
/** As `fetch` throws it. */
const fetchError = (cause: Error) => new TypeError('fetch failed', { cause });

describe('the explanation of a failed connection', () => {
  it.each([
    ['ECONNREFUSED', 'nothing listens there'],
    ['ECONNRESET', 'the connection was closed before the response was complete'],
    ['EPIPE', 'the connection was closed before the response was complete'],
    ['UND_ERR_SOCKET', 'the connection was closed before the response was complete'],
    ['ETIMEDOUT', 'no connection could be made in time'],
    ['UND_ERR_CONNECT_TIMEOUT', 'no connection could be made in time'],
    ['UND_ERR_HEADERS_TIMEOUT', 'the response did not arrive in time'],
    ['UND_ERR_BODY_TIMEOUT', 'the response did not arrive in time'],
    ['ENOTFOUND', 'the host name does not resolve'],
    ['EAI_AGAIN', 'the host name could not be looked up'],
    ['CERT_HAS_EXPIRED', 'the TLS certificate has expired'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'the TLS certificate is self-signed'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'the TLS certificate does not name this host'],
    ['UNABLE_TO_GET_CRL', 'the TLS certificate is not trusted (UNABLE_TO_GET_CRL)'],
    ['HPE_INVALID_CONSTANT', 'the response is not valid HTTP'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'the TLS handshake failed (ERR_SSL_WRONG_VERSION_NUMBER)'],
    ['UND_ERR_NEW', 'the connection failed (UND_ERR_NEW)'],
  ])('is a sentence with the next step for %s', (code, reason) => {
    for (const error of [withCode(code), fetchError(withCode(code))]) {
      const explained = explainConnectionFailure(error);
      expect(explained).toEqual({ code, reason, advice: expect.stringMatching(/^[A-Z].*\.$/) });
    }
  });

  it('has the message of an error without a code', () => {
    expect(explainConnectionFailure(fetchError(new Error('bad port'))).reason).toBe(
      'the connection failed (bad port)',
    );
    expect(explainConnectionFailure('gone').reason).toBe('the connection failed (gone)');
  });

  it('recognizes errors by name when they have no code', () => {
    const named = (name: string) => Object.assign(new Error('x'), { name, code: undefined });
    expect(explainConnectionFailure(fetchError(named('HTTPParserError'))).reason).toBe(
      'the response is not valid HTTP',
    );
    expect(explainConnectionFailure(named('TimeoutError')).reason).toBe(
      'the response did not arrive in time',
    );
  });

  it('exists for failed connections only', () => {
    for (const error of [withCode('ENOENT'), new RangeError('x'), 'ECONNRESET', undefined])
      expect(findConnectionFailure(error)).toBeUndefined();
  });
});
