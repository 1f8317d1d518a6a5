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
export function describeFailure(error: unknown, timeoutMs: number): string {
  if (error instanceof DeadlineError) return `timed out after ${timeoutMs / 1000} s`;
  if (error instanceof ForbiddenAddressError) return 'address is not public';
  if (error instanceof BlockedAddressError) return 'address is blocked by the operator of this service';
  if (error instanceof ContentError) return error.message;
  if (error instanceof InterimResponsesError) return 'too many interim (1xx) responses';
  if (error instanceof ResolutionError) {
    return error.nameIsUnknown ? 'host name does not resolve' : 'host name could not be resolved';
  }
  return describeCode(getErrorCode(error));
}

const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed before the response',
  EPIPE: 'connection closed before the response',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'host is unreachable',
  ENETUNREACH: 'network is unreachable',
  EADDRNOTAVAIL: 'network is unreachable',
  EPROTO: 'TLS handshake failed',
  CERT_HAS_EXPIRED: 'TLS certificate has expired',
  CERT_NOT_YET_VALID: 'TLS certificate is not valid yet',
  CERT_REVOKED: 'TLS certificate is revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS certificate is not trusted (self-signed)',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS certificate is not trusted (self-signed authority)',
  UNABLE_TO_GET_ISSUER_CERT: 'TLS certificate is not trusted (unknown issuer)',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'TLS certificate is not trusted (unknown issuer)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS certificate is not trusted (unknown issuer or incomplete chain)',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS certificate does not name this host',
  HPE_HEADER_OVERFLOW: 'response headers are too large',
};

function describeCode(code: string): string {
  const text = TEXTS[code];
  if (text !== undefined) return text;
  if (code.startsWith('HPE_')) return 'response is not valid HTTP';
  if (code.startsWith('ERR_SSL_')) return `TLS handshake failed (${humanize(code.slice('ERR_SSL_'.length))})`;
  if (/CERT|CRL|CHAIN|SIGNATURE/.test(code)) return `TLS certificate is not trusted (${humanize(code)})`;
  return code === '' ? 'connection failed' : `connection failed (${code})`;
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
