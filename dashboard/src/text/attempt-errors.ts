/** Why attempts fail, as the service words it; what stands in brackets is part of the translation. */
const PATTERNS = {
  answered: /^the receiver answered (\d+)$/,
  timedOut: /^timed out after ([\d.]+) s$/,
  refused: /^connection refused$/,
  closed: /^connection closed before the response$/,
  connectionTimedOut: /^connection timed out$/,
  hostUnreachable: /^host is unreachable$/,
  networkUnreachable: /^network is unreachable$/,
  unresolved: /^host name does not resolve$/,
  notResolved: /^host name could not be resolved$/,
  notPublic: /^address is not public$/,
  blocked: /^address is blocked by the operator of this service$/,
  interim: /^too many interim \(1xx\) responses$/,
  handshake: /^TLS handshake failed(?: \((.+)\))?$/,
  expired: /^TLS certificate has expired$/,
  notYetValid: /^TLS certificate is not valid yet$/,
  revoked: /^TLS certificate is revoked$/,
  otherHost: /^TLS certificate does not name this host$/,
  selfSigned: /^TLS certificate is not trusted \(self-signed\)$/,
  selfSignedAuthority: /^TLS certificate is not trusted \(self-signed authority\)$/,
  unknownIssuer: /^TLS certificate is not trusted \(unknown issuer\)$/,
  incompleteChain: /^TLS certificate is not trusted \(unknown issuer or incomplete chain\)$/,
  untrusted: /^TLS certificate is not trusted \((.+)\)$/,
  largeHeaders: /^response headers are too large$/,
  notHttp: /^response is not valid HTTP$/,
  failed: /^connection failed(?: \((\w+)\))?$/,
  lost: /^the last attempt was started, and its outcome was never recorded$/,
} as const;
export type ErrorKind = keyof typeof PATTERNS;

/** Which of the known errors a text is, with the part that differs. */
export function parseError(text: string): { kind: ErrorKind; detail: string } | undefined {
  for (const [kind, pattern] of Object.entries(PATTERNS)) {
    const match = pattern.exec(text);
    if (match) return { kind: kind as ErrorKind, detail: match[1] ?? '' };
  }
  return undefined;
}
