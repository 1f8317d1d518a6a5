import { type AttemptError, type AttemptErrorCode, timedOutAfter } from '../../receivers/attempt-error.ts';
import { BlockedAddressError, ForbiddenAddressError, ResolutionError } from './agent.ts';

export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

export class InterimResponsesError extends Error {
  override readonly name = 'InterimResponsesError';
}

/** The server's content cannot be used. The message is the service's own and may be shown. */
export class ContentError extends Error {
  override readonly name = 'ContentError';
}

/**
 * Describes in one line why there was no response. Uses error codes only: messages of Node and OpenSSL
 * contain addresses, file names and text of the receiver, and customers read the line.
 */
export function describeFailure(error: unknown, timeoutMs: number): AttemptError {
  if (error instanceof DeadlineError) return timedOutAfter(timeoutMs);
  if (error instanceof ForbiddenAddressError) return of('address_forbidden', 'address is not public');
  if (error instanceof BlockedAddressError)
    return of('address_forbidden', 'address is blocked by the operator of this service');
  if (error instanceof ContentError) return of('invalid_response', error.message);
  if (error instanceof InterimResponsesError)
    return of('invalid_response', 'too many interim (1xx) responses');
  if (error instanceof ResolutionError)
    return of('dns', error.nameIsUnknown ? 'host name does not resolve' : 'host name could not be resolved');
  return describeCode(getErrorCode(error));
}

const of = (errorCode: AttemptErrorCode, error: string): AttemptError => ({ errorCode, error });

const CLOSED = of('connection_closed', 'connection closed before the response');
const UNKNOWN_ISSUER = of('tls', 'TLS certificate is not trusted (unknown issuer)');
const OTHER_HOST = of('tls', 'TLS certificate does not name this host');
const UNREACHABLE = of('connection_refused', 'network is unreachable');

/** By the codes of Node.js; those of certificates are the names of OpenSSL's verification errors. */
const ERRORS: Readonly<Record<string, AttemptError>> = {
  ECONNREFUSED: of('connection_refused', 'connection refused'),
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  ETIMEDOUT: of('timeout', 'connection timed out'),
  EHOSTUNREACH: of('connection_refused', 'host is unreachable'),
  ENETUNREACH: UNREACHABLE,
  EADDRNOTAVAIL: UNREACHABLE,
  EPROTO: of('tls', 'TLS handshake failed'),
  CERT_HAS_EXPIRED: of('tls', 'TLS certificate has expired'),
  CERT_NOT_YET_VALID: of('tls', 'TLS certificate is not valid yet'),
  CERT_REVOKED: of('tls', 'TLS certificate is revoked'),
  DEPTH_ZERO_SELF_SIGNED_CERT: of('tls', 'TLS certificate is not trusted (self-signed)'),
  SELF_SIGNED_CERT_IN_CHAIN: of('tls', 'TLS certificate is not trusted (self-signed authority)'),
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: of(
    'tls',
    'TLS certificate is not trusted (unknown issuer or incomplete chain)',
  ),
  ERR_TLS_CERT_ALTNAME_INVALID: OTHER_HOST,
  HOSTNAME_MISMATCH: OTHER_HOST,
  INVALID_PURPOSE: of('tls', 'TLS certificate is not for servers'),
  INVALID_CA: of('tls', 'TLS certificate is not trusted (its issuer is no authority)'),
  PATH_LENGTH_EXCEEDED: of('tls', 'TLS certificate is not trusted (chain too long)'),
  UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: of(
    'tls',
    'TLS certificate is not trusted (unreadable key of its issuer)',
  ),
  UNSPECIFIED: of('tls', 'TLS certificate is not trusted (weak key or signature, or another fault)'),
  HPE_HEADER_OVERFLOW: of('invalid_response', 'response headers are too large'),
};

function describeCode(code: string): AttemptError {
  const error = Object.hasOwn(ERRORS, code) ? ERRORS[code] : undefined;
  if (error !== undefined) return error;
  if (code.startsWith('HPE_')) return of('invalid_response', 'response is not valid HTTP');
  if (code.startsWith('ERR_SSL_'))
    return of('tls', `TLS handshake failed (${humanize(code.slice('ERR_SSL_'.length))})`);
  if (code.startsWith('ERR_TLS_'))
    return of('tls', `TLS failed (${humanize(code.slice('ERR_TLS_'.length))})`);
  if (/CERT|CRL|CHAIN|SIGNATURE/.test(code))
    return of('tls', `TLS certificate is not trusted (${humanize(code)})`);
  return of('connection_closed', code === '' ? 'connection failed' : `connection failed (${code})`);
}

/** Whether Node's parser refused the headers of a response, for another reason than their size. */
export function isHeaderFault(error: unknown): boolean {
  const code = getErrorCode(error);
  return code.startsWith('HPE_') && code !== 'HPE_HEADER_OVERFLOW';
}

/** `ERR_SSL_WRONG_VERSION_NUMBER` without its prefix becomes "wrong version number". */
function humanize(code: string): string {
  return code.toLowerCase().replaceAll('_', ' ');
}

/** A failure of several addresses has the code of the first one. */
function getErrorCode(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' && /^[A-Z0-9_]{1,80}$/.test(error.code) ? error.code : '';
}
