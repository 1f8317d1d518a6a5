import type { Answer } from '../gateway/answer.ts';
import { type GatewayRequest, headerOf } from '../gateway/request.ts';
import type { Coding, StoredFile } from './content.ts';
import type { Site } from './site.ts';

/** S3's response for a missing key. */
const NO_SUCH_KEY =
  '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>';

/** Pages of a site, at `/` of the local URL, with CloudFront's responses. */
export const sitePages =
  (site: Site) =>
  async (request: GatewayRequest): Promise<Answer | undefined> => {
    const { path, method } = request;
    if (!site.methods.includes(method) || site.isElsewhere(path)) return undefined;
    const elsewhere = redirectToLocalhost(request);
    if (elsewhere) return elsewhere;
    const file = site.files.get(decodeKey(site.pathOf({ method, uri: path })));
    if (file === undefined)
      return {
        statusCode: 404,
        headers: { ...site.headers, 'Content-Type': 'application/xml' },
        body: NO_SUCH_KEY,
      };
    return answerWith(file, request, site);
  };

/** Redirects to `localhost`, the only name that sign-in knows; cookies of another name would not match. */
function redirectToLocalhost({ headers, path, query }: GatewayRequest): Answer | undefined {
  const url = URL.parse(`http://${headerOf({ headers }, 'host')}`);
  if (url?.hostname !== '127.0.0.1') return undefined;
  url.hostname = 'localhost';
  url.pathname = path;
  url.search = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString();
  return {
    statusCode: 307,
    headers: { Location: url.href, 'Cache-Control': 'no-store' },
    body: '',
  };
}

/** A path is a key: there is no directory to leave. */
function decodeKey(path: string): string {
  try {
    return decodeURIComponent(path.slice(1));
  } catch {
    return '';
  }
}

async function answerWith(file: StoredFile, request: GatewayRequest, site: Site): Promise<Answer> {
  const compressible = site.compresses && file.compresses();
  const coding = compressible ? codingFor(headerOf(request, 'accept-encoding')) : 'identity';
  // CloudFront makes it weak when it compresses, because the bytes differ (RFC 9110, 8.8.1).
  const etag = coding === 'identity' ? file.etag() : `W/${file.etag()}`;
  const headers = {
    ...site.headers,
    ETag: etag,
    ...(file.cacheControl === undefined ? {} : { 'Cache-Control': file.cacheControl }),
    ...(compressible ? { Vary: 'Accept-Encoding' } : {}),
  };
  if (isKnown(headerOf(request, 'if-none-match'), file.etag())) return { statusCode: 304, headers, body: '' };
  return {
    statusCode: 200,
    headers: {
      ...headers,
      'Content-Type': file.contentType,
      ...(coding === 'identity' ? {} : { 'Content-Encoding': coding }),
    },
    body: await file.body(coding),
  };
}

/** `If-None-Match` is `*` or a list of entity tags, and compares weakly (RFC 9110, 13.1.2). */
const isKnown = (condition: string | undefined, etag: string): boolean =>
  condition !== undefined &&
  (condition.trim() === '*' ||
    condition.split(',').some((listed) => listed.trim().replace(/^W\//, '') === etag));

/** Brotli before gzip, unless the client accepts neither (RFC 9110, 12.5.3). */
export function codingFor(accepted: string | undefined): Coding {
  const weights = new Map(
    (accepted ?? '').split(',').map((entry) => {
      const [coding = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return [coding, weight === undefined ? 1 : Number(weight.slice(2))];
    }),
  );
  const takes = (coding: string): boolean => (weights.get(coding) ?? weights.get('*') ?? 0) > 0;
  if (takes('br')) return 'br';
  return takes('gzip') ? 'gzip' : 'identity';
}
