import fc from 'fast-check';
import type { Sent } from '../support/exchange.ts';
import { contentFor } from './bodies.ts';
import { sizeOf } from './conformance.ts';
import type { Operation } from './document.ts';
import { oddText, rarely, valuesOf } from './values.ts';

/** The values of requests besides those of the document. */
export interface Ingredients {
  /** The operation's path with resources of the caller's organization, and with those of another. */
  own: string;
  foreign: string;
  /** A valid body; undefined when the operation takes none. */
  body: unknown;
  credentials: {
    right: string;
    /** Of another organization. */
    foreign: string;
    /** A session where a key is required, or a key where a session is. */
    otherKind: string;
  };
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

/** Requests to an operation: most of them valid but for one part. */
export function requestsTo(operation: Operation, ingredients: Ingredients): fc.Arbitrary<Sent> {
  return (
    fc
      .record({
        method: rarely(fc.constantFrom(...METHODS), fc.constant(operation.method), 12),
        path: pathTo(operation, ingredients),
        query: queryOf(operation),
        authorization: authorization(ingredients),
        key: idempotencyKey(operation),
        content: contentFor(operation, ingredients.body),
        others: rarely<Header[]>(fc.array(oddHeader, { minLength: 1, maxLength: 3 }), fc.constant([]), 6),
      })
      .map(({ method, path, query, authorization: credential, key, content: { type, body }, others }) => ({
        method,
        target: path + query,
        headers: [
          ...field('Authorization', credential),
          ...field('Idempotency-Key', key),
          ...field('Content-Type', type),
          ...others,
        ],
        ...(body === undefined ? {} : { body }),
      }))
      // The local gateway refuses headers that are too large before it has read the method, and answers a
      // HEAD with a body.
      .filter((sent) => sent.method !== 'HEAD' || sizeOf(sent) < 9_000)
  );
}

type Header = readonly [name: string, value: string];

const field = (name: string, value: string | undefined): Header[] =>
  value === undefined ? [] : [[name, value]];

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

const ODD_SEGMENTS = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%2F',
  '%00',
  '%zz',
  '%C3%28',
  '%ED%A0%80',
  '+',
  '*',
  '{id}',
  ';a=b',
  '@',
];

function pathTo({ path }: Operation, { own, foreign }: Ingredients): fc.Arbitrary<string> {
  const others = foreign.split('/');
  const segments = own.split('/').map((segment, index) => {
    if (!path.split('/')[index]?.startsWith('{')) return fc.constant(segment);
    const alike = [
      segment.slice(0, -1),
      `${segment}0`,
      segment.toUpperCase(),
      segment.slice(4),
      `evt_${segment.slice(4)}`,
    ];
    const unknown = fc.stringMatching(/^[0-9a-f]{32}$/).map((digits) => segment.slice(0, 4) + digits);
    return fc.oneof(
      { arbitrary: fc.constant(segment), weight: 8 },
      fc.constant(others[index] ?? segment),
      unknown,
      fc.constantFrom(...alike, ...ODD_SEGMENTS),
      oddText.map(encoded),
    );
  });
  const tail = rarely(fc.constantFrom('/', '//', '/x', '%20', '.json'), fc.constant(''), 30);
  return fc.tuple(...segments, tail).map((parts) => parts.slice(0, -1).join('/') + parts.at(-1));
}

const ODD_QUERIES = [
  '&',
  '=',
  '=&=',
  '%',
  '%zz=1',
  '%C3%28',
  'limit',
  'limit=1&limit=x',
  'cursor',
  'cursor=',
  'limit=%00',
  'a[b]=c',
  '?',
  '+',
];

function queryOf({ parameters }: Operation): fc.Arbitrary<string> {
  const queryParameters = parameters.filter((parameter) => parameter.in === 'query');
  const pair = fc.oneof(
    ...queryParameters.map(({ name, schema }) => fc.tuple(fc.constant(name), valuesOf(schema).map(String))),
    ...queryParameters.map(({ name }) => fc.tuple(fc.constant(name), oddText)),
    fc.tuple(oddText, oddText),
  );
  const pairs = fc
    .array(pair, { minLength: 1, maxLength: 3 })
    .map((all) =>
      all
        .map(([name, value]) => `${encoded(name).slice(0, 3000)}=${encoded(value).slice(0, 3000)}`)
        .join('&'),
    );
  const odd = fc.oneof({ arbitrary: pairs, weight: 4 }, fc.constantFrom(...ODD_QUERIES));
  return rarely(
    odd.map((query) => `?${query}`),
    fc.constant(''),
    queryParameters.length > 0 ? 1 : 8,
  );
}

function authorization({ credentials }: Ingredients): fc.Arbitrary<string | undefined> {
  const { right, foreign, otherKind } = credentials;
  return rarely<string | undefined>(
    fc.constantFrom(
      undefined,
      '',
      'Bearer',
      'Bearer ',
      right,
      `Basic ${right}`,
      `bearer  ${right}`,
      `Bearer ${right} x`,
      `Bearer ${right.slice(0, -1)}`,
      `Bearer ${right.slice(0, -1)}\xff`,
      `Bearer ${foreign}`,
      `Bearer ${otherKind}`,
      `Bearer ck_sandbox_${'A'.repeat(43)}`,
      `Bearer ${'x'.repeat(5_000)}`,
      'Bearer __proto__',
    ),
    fc.constant(`Bearer ${right}`),
    12,
  );
}

/** The same few keys, so that requests find the records of earlier ones. */
const AGAIN = '0b7c9ba0-6b3c-4f0e-9d39-3a1f4a1f0a10';

function idempotencyKey({ parameters }: Operation): fc.Arbitrary<string | undefined> {
  const takesKey = parameters.some(({ name }) => name === 'Idempotency-Key');
  const odd = fc.constantFrom(
    '',
    'x',
    '0',
    AGAIN.replaceAll('-', ''),
    `{${AGAIN}}`,
    `${AGAIN},${AGAIN}`,
    '\xff'.repeat(36),
  );
  return takesKey
    ? fc.oneof(
        { arbitrary: fc.uuid(), weight: 8 },
        { arbitrary: fc.constantFrom(AGAIN, AGAIN.toUpperCase()), weight: 2 },
        odd,
        fc.constant(undefined),
      )
    : rarely<string | undefined>(odd, fc.constant(undefined), 8);
}

const ODD_HEADER_VALUES = [
  '',
  '*',
  '0',
  '-1',
  '__proto__',
  '\xe9\xff',
  '"',
  ',,,',
  '\t x',
  'x'.repeat(4_000),
  'x'.repeat(11_000),
];

const oddHeader: fc.Arbitrary<Header> = fc.tuple(
  fc.constantFrom(
    'Accept',
    'Accept-Encoding',
    'Content-Encoding',
    'Cookie',
    'If-Match',
    'If-None-Match',
    'Origin',
    'Range',
    'User-Agent',
    'X-Forwarded-For',
    'X-HTTP-Method-Override',
    'X-Amzn-RequestId',
    'Request-Id',
    'Authorization',
    'Content-Type',
    'Idempotency-Key',
    'constructor',
    '__proto__',
  ),
  fc.constantFrom(...ODD_HEADER_VALUES),
);
