/** A request without its body. */
export interface GatewayRequest {
  method: string;
  /** Still encoded, without the query. */
  path: string;
  /** Decoded; empty for `/`. */
  segments: readonly string[];
  /** Decoded, in order. */
  query: readonly (readonly [name: string, value: string])[];
  /** As sent, in order. */
  headers: readonly (readonly [name: string, value: string])[];
  protocol: string;
  sourceIp: string;
}

/**
 * Parses a request target (RFC 9112, section 3.2).
 * @returns undefined when it is not a path, or its percent-encoding is not UTF-8
 */
export function parseTarget(target: string): Pick<GatewayRequest, 'path' | 'segments' | 'query'> | undefined {
  const [, local = target] = /^https?:\/\/[^/?]*(\/.*)$/i.exec(target) ?? [];
  if (!local.startsWith('/')) return undefined;
  const end = local.includes('?') ? local.indexOf('?') : local.length;
  const path = local.slice(0, end);
  try {
    const segments = path === '/' ? [] : path.slice(1).split('/').map(decodeURIComponent);
    return { path, segments, query: parseQuery(local.slice(end + 1)) };
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function parseQuery(query: string): [string, string][] {
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', ...value] = part.split('=');
      return [decodeQueryText(name), decodeQueryText(value.join('='))];
    });
}

function decodeQueryText(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

/** First header with this name, case-insensitive. */
export function headerOf(request: Pick<GatewayRequest, 'headers'>, name: string): string | undefined {
  return request.headers.find(([key]) => key.toLowerCase() === name)?.[1];
}

/** Media type without parameters; API Gateway defaults to JSON. */
export function mediaTypeOf(request: Pick<GatewayRequest, 'headers'>): string {
  const [type = ''] = (headerOf(request, 'content-type') ?? '').split(';');
  return type.trim().toLowerCase() || 'application/json';
}
