/** Why no response came: a clause for the user, and a sentence with the next step. */
export interface ConnectionFailure {
  /** Code of the error that gives the reason; undefined when it has none. */
  code: string | undefined;
  reason: string;
  advice: string;
}

const CHECK_SERVER = 'Check that the server still runs, then try again.';
const CHECK_NETWORK = 'Check the host in the URL, your network and your VPN, then try again.';
const CHECK_SCHEME = 'Check that the URL says http or https as the server does.';
const TRUST_ISSUER = 'Name the file of its authority in NODE_EXTRA_CA_CERTS, or use another certificate.';

const REFUSED = {
  reason: 'nothing listens there',
  advice: 'Start the server, or check the host and port in the URL.',
};
const CLOSED = { reason: 'the connection was closed before the response was complete', advice: CHECK_SERVER };
const UNCONNECTED = { reason: 'no connection could be made in time', advice: CHECK_NETWORK };
const UNREACHABLE = { reason: 'the host is unreachable', advice: CHECK_NETWORK };
const TOO_SLOW = { reason: 'the response did not arrive in time', advice: CHECK_SERVER };
const TOO_LARGE = {
  reason: 'the response headers are too large',
  advice: 'Check which server listens at this URL.',
};
const NOT_HTTP = { reason: 'the response is not valid HTTP', advice: CHECK_SCHEME };
const SELF_SIGNED = { reason: 'the TLS certificate is self-signed', advice: TRUST_ISSUER };
const UNKNOWN_ISSUER = { reason: 'the TLS certificate is of an unknown authority', advice: TRUST_ISSUER };

type Explanation = Pick<ConnectionFailure, 'reason' | 'advice'>;

/** Codes of Node.js, OpenSSL and undici (`fetch`). */
const FAILURES: Readonly<Record<string, Explanation>> = {
  ECONNREFUSED: REFUSED,
  ECONNRESET: CLOSED,
  ECONNABORTED: CLOSED,
  EPIPE: CLOSED,
  UND_ERR_SOCKET: CLOSED,
  UND_ERR_CLOSED: CLOSED,
  UND_ERR_DESTROYED: CLOSED,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: CLOSED,
  ETIMEDOUT: UNCONNECTED,
  UND_ERR_CONNECT_TIMEOUT: UNCONNECTED,
  UND_ERR_HEADERS_TIMEOUT: TOO_SLOW,
  UND_ERR_BODY_TIMEOUT: TOO_SLOW,
  UND_ERR_HEADERS_OVERFLOW: TOO_LARGE,
  HPE_HEADER_OVERFLOW: TOO_LARGE,
  EHOSTUNREACH: UNREACHABLE,
  EHOSTDOWN: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ENETDOWN: UNREACHABLE,
  EADDRNOTAVAIL: UNREACHABLE,
  ENOTFOUND: { reason: 'the host name does not resolve', advice: 'Check the host in the URL.' },
  EAI_AGAIN: { reason: 'the host name could not be looked up', advice: CHECK_NETWORK },
  EPROTO: { reason: 'the TLS handshake failed', advice: CHECK_SCHEME },
  CERT_HAS_EXPIRED: { reason: 'the TLS certificate has expired', advice: 'Renew the certificate.' },
  CERT_NOT_YET_VALID: {
    reason: 'the TLS certificate is not valid yet',
    advice: 'Check the clocks of this machine and of the server.',
  },
  CERT_REVOKED: { reason: 'the TLS certificate is revoked', advice: 'Replace the certificate.' },
  DEPTH_ZERO_SELF_SIGNED_CERT: SELF_SIGNED,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ISSUER,
  ERR_TLS_CERT_ALTNAME_INVALID: {
    reason: 'the TLS certificate does not name this host',
    advice: 'Use a host of the certificate in the URL.',
  },
};

/** Explains why a request from `fetch`, `node:http` or an SDK got no response. */
export function explainConnectionFailure(error: unknown): ConnectionFailure {
  const failure = findConnectionFailure(error);
  if (failure !== undefined) return failure;
  const root = findRootCause(error);
  const code = readCode(root);
  const detail = code ?? (root instanceof Error ? root.message : String(root));
  return {
    code,
    reason: `the connection failed (${detail})`,
    advice: 'Check the URL and the server, then try again.',
  };
}

/** @returns undefined when neither the error nor one of its causes is a known connection failure */
export function findConnectionFailure(error: unknown): ConnectionFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  // Checked before its code, which is 20 (DOMException) for a signal that timed out.
  if (error.name === 'TimeoutError') return { code: undefined, ...TOO_SLOW };
  // undici 7 gives its parser's errors a name but no code.
  if (error.name === 'HTTPParserError') return { code: undefined, ...NOT_HTTP };
  const code = readCode(error) ?? '';
  const explanation = explainCode(code);
  return explanation === undefined ? findConnectionFailure(error.cause) : { code, ...explanation };
}

function explainCode(code: string): Explanation | undefined {
  const failure = FAILURES[code];
  if (failure !== undefined) return failure;
  if (code.startsWith('HPE_')) return NOT_HTTP;
  if (code.startsWith('ERR_SSL_'))
    return { reason: `the TLS handshake failed (${code})`, advice: CHECK_SCHEME };
  // OpenSSL has dozens more X509_V_ERR_ codes.
  if (/^(?:CERT|CRL|UNABLE_TO|ERROR_IN_CERT|INVALID_(?:CA|PURPOSE)|PATH_LENGTH)_?/.test(code))
    return { reason: `the TLS certificate is not trusted (${code})`, advice: TRUST_ISSUER };
  return undefined;
}

/** `fetch` says only "fetch failed"; its last cause has the reason. */
function findRootCause(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? findRootCause(error.cause) : error;
}

function readCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
