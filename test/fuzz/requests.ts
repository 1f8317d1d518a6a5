import fc from 'fast-check';
import type { Sent } from '../support/exchange.ts';
import { sizeOf } from './conformance.ts';
import type { Operation } from './document.ts';
import { mutated, ODD_TEXTS, oddText, valuesOf } from './values.ts';

/** What requests are made of besides the document. */
export interface Ingredients {
  /** The operation's path with things of the caller's organization, and with those of another. */
  own: string;
  foreign: string;
  /** A body that the operation takes; undefined when it takes none. */
  body: unknown;
  credentials: {
    right: string;
    /** Of another organization. */
    foreign: string;
    /** A session where a key is wanted, and the other way round. */
    otherKind: string;
  };
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

/** Requests to an operation: most of them right but for one thing. */
export function requestsTo(operation: Operation, ingredients: Ingredients): fc.Arbitrary<Sent> {
  return (
    fc
      .record({
        method: rarely(fc.constantFrom(...METHODS), fc.constant(operation.method), 12),
        path: pathTo(operation, ingredients),
        query: queryOf(operation),
        authorization: authorization(ingredients),
        key: idempotencyKey(operation),
        content: content(operation, ingredients),
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
      // The gateway here refuses headers that are too large before it has read the method, and answers a HEAD with a body.
      .filter((sent) => sent.method !== 'HEAD' || sizeOf(sent) < 9_000)
  );
}

type Header = readonly [name: string, value: string];

const field = (name: string, value: string | undefined): Header[] =>
  value === undefined ? [] : [[name, value]];

/** @param weight of `usual` for each one of `rare` */
const rarely = <Value>(rare: fc.Arbitrary<Value>, usual: fc.Arbitrary<Value>, weight: number) =>
  fc.oneof({ arbitrary: usual, weight }, { arbitrary: rare, weight: 1 });

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
  const known = parameters.filter((parameter) => parameter.in === 'query');
  const pair = fc.oneof(
    ...known.map(({ name, schema }) => fc.tuple(fc.constant(name), valuesOf(schema).map(String))),
    ...known.map(({ name }) => fc.tuple(fc.constant(name), oddText)),
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
    known.length > 0 ? 1 : 8,
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

/** The same key comes again and again, so that requests meet what earlier ones have left. */
const AGAIN = '0b7c9ba0-6b3c-4f0e-9d39-3a1f4a1f0a10';

function idempotencyKey({ parameters }: Operation): fc.Arbitrary<string | undefined> {
  const known = parameters.some(({ name }) => name === 'Idempotency-Key');
  const odd = fc.constantFrom(
    '',
    'x',
    '0',
    AGAIN.replaceAll('-', ''),
    `{${AGAIN}}`,
    `${AGAIN},${AGAIN}`,
    '\xff'.repeat(36),
  );
  return known
    ? fc.oneof(
        { arbitrary: fc.uuid(), weight: 8 },
        { arbitrary: fc.constantFrom(AGAIN, AGAIN.toUpperCase()), weight: 2 },
        odd,
        fc.constant(undefined),
      )
    : rarely<string | undefined>(odd, fc.constant(undefined), 8);
}

const JSON_TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'application/json;charset=latin1;x="y"',
];
const OTHER_TYPES = [
  '',
  ';',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/problem+json',
  'application/json, text/plain',
  'application/octet-stream',
  '\xff',
];

interface Content {
  type: string | undefined;
  body: string | undefined;
}

function content({ body, method }: Operation, { body: example }: Ingredients): fc.Arbitrary<Content> {
  const type = rarely<string | undefined>(
    fc.constantFrom(undefined, ...OTHER_TYPES),
    rarely(fc.constantFrom(...JSON_TYPES), fc.constant('application/json'), 3),
    10,
  );
  const nothing = fc.record({ type: rarely(type, fc.constant(undefined), 10), body: fc.constant(undefined) });
  const broken = fc.oneof(fc.constantFrom(...BROKEN), truncated(example));
  if (body === undefined) {
    const something = fc.record({ type, body: fc.oneof(broken, oddText, fc.constant('{}')) });
    return rarely<Content>(something, nothing, method === 'POST' ? 2 : 8);
  }
  // A value at its limits has often more than one thing wrong when it is taken whole, so that most start from the example.
  const valid = fc.oneof(
    fc.constant(example),
    fc
      .tuple(fc.constant(example), valuesOf(body.schema))
      .map(([base, change]) => ({ ...Object(base), ...Object(change) })),
    valuesOf(body.schema),
  );
  const text = fc.oneof(
    { arbitrary: valid.map((value) => JSON.stringify(value)), weight: 5 },
    { arbitrary: mutated(valid).map((value) => JSON.stringify(value)), weight: 6 },
    broken,
    rarely(
      fc.constantFrom(...LIMITS).map((size) => padded(example, size)),
      broken,
      1,
    ),
  );
  return rarely<Content>(nothing, fc.record({ type, body: text }), 12);
}

/** What is not JSON, or only just. */
const BROKEN = [
  '',
  '{',
  '}',
  'null',
  'nul',
  '[]',
  '""',
  '{"a":1,}',
  "{'a':1}",
  '{"a":NaN}',
  '{"a":1e400}',
  '{"a":-1e400}',
  '{"a":01}',
  '{"a":"\\ud800"}',
  '{"a":"\\x41"}',
  '{"a":"\t"}',
  '{"a":1}{"a":2}',
  '{"__proto__":{"url":"x"}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '\uFEFF{}',
  '\0',
  '[',
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  `{"a":${'9'.repeat(5_000)}}`,
  ...ODD_TEXTS.slice(0, 12),
];

const truncated = (example: unknown): fc.Arbitrary<string> => {
  const whole = JSON.stringify(example ?? { a: 1 });
  return fc.nat({ max: whole.length }).map((length) => whole.slice(0, length));
};

/** Sizes of bodies around their limit of 256 KiB. */
const LIMITS = [262_143, 262_144, 262_145, 300_000];

/** A body of so many bytes. */
function padded(example: unknown, bytes: number): string {
  const bare = JSON.stringify({ ...Object(example), pad: '' });
  return JSON.stringify({
    ...Object(example),
    pad: 'x'.repeat(Math.max(0, bytes - Buffer.byteLength(bare))),
  });
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
