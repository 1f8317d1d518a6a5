import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { loadOnce } from './cache.ts';

type Signer = Extract<DynamoDBClientConfig['signer'], { sign: unknown }>;

interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/**
 * Signature Version 4 (IAM User Guide, Signature Version 4 for API requests) of requests of the JSON
 * protocols: POST to `/` with a whole body. It signs what AWS requires: `host`, `content-type` and `x-amz-*`.
 * The SDK makes a signer for each request and copies its configuration into it.
 * @param terms.credentials read once: those of an execution environment do not change
 */
export function requestSigner(terms: {
  service: string;
  region(): string;
  credentials(): Promise<Credentials>;
}): Signer {
  const { service } = terms;
  let cached: { scope: string; key: KeyObject } | undefined;

  const readCredentials = loadOnce(() => terms.credentials());

  /** The key of a day, which is in the scope. */
  function getKey(day: string, region: string, scope: string, secret: string): KeyObject {
    if (cached?.scope !== scope) {
      const parts = [day, region, service, 'aws4_request'];
      const key = parts.reduce<Buffer>((part, text) => hmac(part, text), Buffer.from(`AWS4${secret}`));
      cached = { scope, key: createSecretKey(key) };
    }
    return cached.key;
  }

  const sign: Signer['sign'] = async (request, { signingDate = new Date(), signingRegion } = {}) => {
    const { path, query = {}, headers, body = '' } = request;
    if (path !== '/' || Object.keys(query).length > 0 || !isBody(body))
      throw new TypeError('only whole requests to / are signed');
    const { accessKeyId, secretAccessKey, sessionToken } = await readCredentials();
    const region = signingRegion ?? terms.region();
    const time = new Date(signingDate).toISOString().replace(/[:-]|\.\d{3}/g, '');
    const day = time.slice(0, 8);
    const scope = `${day}/${region}/${service}/aws4_request`;
    headers['x-amz-date'] = time;
    if (sessionToken !== undefined) headers['x-amz-security-token'] = sessionToken;
    const names = Object.keys(headers).filter(isSigned).sort();
    const signed = names.map((name) => name.toLowerCase()).join(';');
    const lines = names.map((name) => `${name.toLowerCase()}:${collapse(headers[name])}\n`).join('');
    const canonical = `POST\n/\n\n${lines}\n${signed}\n${hash('sha256', body)}`;
    const key = getKey(day, region, scope, secretAccessKey);
    const signature = hmac(key, `${ALGORITHM}\n${time}\n${scope}\n${hash('sha256', canonical)}`).toString(
      'hex',
    );
    headers.authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
    return request;
  };

  return { sign };
}

const hmac = (key: KeyObject | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

const isBody = (body: unknown): body is string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array;

/** As AWS reads the value of a header. */
const collapse = (value = ''): string => value.trim().replace(/\s+/g, ' ');

const isSigned = (name: string): boolean => /^(host|content-type|x-amz-.*)$/i.test(name);
