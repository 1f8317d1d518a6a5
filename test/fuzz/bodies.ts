import fc from 'fast-check';
import type { Operation } from './document.ts';
import { mutated, ODD_TEXTS, oddText, rarely, valuesOf } from './values.ts';

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

/** The body of a request, and its headers. */
export interface Content {
  type: string | undefined;
  body: string | undefined;
}

/** @param example a valid body of the operation; undefined when it takes none */
export function contentFor({ body, method }: Operation, example: unknown): fc.Arbitrary<Content> {
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
  // A generated value often has several errors at once, so most bodies start from the example.
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

/** Invalid JSON, and unusual JSON. */
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
