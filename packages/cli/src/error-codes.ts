import type { ItemOf } from '../../sdk/src/index.ts';

export type AttemptErrorCode = NonNullable<ItemOf<'listDeliveries'>['lastErrorCode']>;

const TEXTS: Readonly<Record<AttemptErrorCode, string>> = {
  http_status: 'the receiver answered with another status than 2xx',
  redirect: 'the receiver redirects, which is not followed',
  timeout: 'no response in time',
  connection_refused: 'no connection: refused, or the host or network is unreachable',
  connection_closed: 'the connection was closed, or failed, before the response',
  dns: 'the host name does not resolve',
  tls: 'the TLS handshake failed, or the certificate is not trusted or not valid',
  address_forbidden: 'the URL or its address is not public, or the operator has blocked it',
  invalid_response: 'the response is not valid HTTP',
  lost: 'the service lost the outcome of the last attempt',
};

/** What a code means, which later versions of the API may have added. */
export const describeErrorCode = (code: string): string =>
  (Object.hasOwn(TEXTS, code) ? TEXTS[code as AttemptErrorCode] : undefined) ?? code;

/** Where the API's reference says what to check and to do for a code. */
export const linkToCause = (code: string, baseUrl: string): string =>
  `${baseUrl}/api/docs${Object.hasOwn(TEXTS, code) ? `#cause-${code}` : ''}`;
