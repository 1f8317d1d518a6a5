import fc from 'fast-check';
import type { Schema } from '../../lib/openapi/openapi.ts';

/** Text that has broken other programs. */
export const ODD_TEXTS = [
  '',
  ' ',
  '\0',
  '\n',
  '\u2028',
  '\u202Eevil',
  '\uFEFF',
  '\uD800',
  '\uDC00\uD800',
  '👩‍👩‍👧‍👦',
  'e\u0301'.repeat(40),
  'İıſK',
  'null',
  'undefined',
  'NaN',
  'true',
  '0',
  '-1',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '#organization',
  "' OR '1'='1",
  '%{jndi:ldap://localhost/x}',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '../../../etc/passwd',
  '%00',
  '%s%n',
  'ck_live_',
  'x'.repeat(201),
  'x'.repeat(2_049),
  'x'.repeat(10_000),
];

const ODD_NUMBERS = [0, -0, -1, 0.1, 1.5, 1e-300, 1e21, 1e308, 2 ** 31, 2 ** 53, 2 ** 64, -(2 ** 63)];

/** Names of properties that every object inherits. */
const ODD_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'toJSON',
  'then',
  '',
  'id',
  'orgId',
];

/** Any text, lone surrogates included. */
const anyText = fc
  .array(fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0x10ffff })), { maxLength: 30 })
  .map((points) => String.fromCodePoint(...points));

export const oddText: fc.Arbitrary<string> = fc.oneof(fc.constantFrom(...ODD_TEXTS), anyText);

/** @param weight of `usual` for each one of `rare` */
export const rarely = <Value>(rare: fc.Arbitrary<Value>, usual: fc.Arbitrary<Value>, weight: number) =>
  fc.oneof({ arbitrary: usual, weight }, { arbitrary: rare, weight: 1 });

/** Any JSON value. */
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...ODD_NUMBERS),
  fc.constantFrom(null, true, false, [], {}, [[]], [null], { length: -1 }),
  oddText,
  fc.array(oddText, { maxLength: 3 }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** A valid value of a schema, often at its limits. */
export function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return fc.oneof(...options.map(valuesOf));
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type) => valuesOf({ ...schema, type })));
  switch (schema.type) {
    case 'object':
      return objectOf(schema);
    case 'array':
      return fc.uniqueArray(valuesOf(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: schema.maxItems ?? 5,
        comparator: 'SameValue',
      });
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return oddValue;
  }
}

function objectOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<object> {
  const values = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valuesOf(schema)]),
  );
  return fc.record(values, { requiredKeys: required });
}

function textOf({ pattern, format, minLength = 0, maxLength = 300 }: Schema): fc.Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  const fits = (text: string) => text.slice(0, maxLength).padEnd(minLength, 'x');
  return fc.oneof(
    fc.constantFrom('x'.repeat(minLength), 'x'.repeat(maxLength)),
    { arbitrary: fc.string({ maxLength: 30 }).map(fits), weight: 2 },
    oddText.map(fits),
    ...(format === 'uri' ? [{ arbitrary: programmedUrl, weight: 6 }] : []),
  );
}

/** Valid and invalid answers of a simulated receiver. */
const ANSWERS = ['200', '503', '599', 'timeout', 'reset', 'refused', 'dns', 'tls', 'certificate'];
const ODD_ANSWERS = [
  '',
  '199',
  '600',
  '99999',
  'Timeout',
  '5e2',
  '__proto__',
  'constructor',
  ' 200 ',
  '200@',
];
const WAITS = ['', '@0s', '@3s', '@250ms', '@1.5s', '@60s'];
const ODD_WAITS = ['@', '@s', '@60001ms', '@-1s', '@1e9s', '@1m', '@3s@3s'];
const SPEEDS = ['1', '60', '3600'];
const ODD_SPEEDS = ['', '0', '3601', '-1', '1.5', '0x10', '1e3', '__proto__'];

/** A URL with a valid or almost valid program of a simulated receiver. */
const programmedUrl: fc.Arbitrary<string> = fc
  .record({
    answers: fc.array(
      fc
        .tuple(
          rarely(fc.constantFrom(...ODD_ANSWERS), fc.constantFrom(...ANSWERS), 9),
          rarely(fc.constantFrom(...ODD_WAITS), fc.constantFrom(...WAITS), 9),
        )
        .map((parts) => parts.join('')),
      { minLength: 1, maxLength: 4 },
    ),
    repeated: rarely(fc.integer({ min: 1, max: 60 }), fc.constant(1), 6),
    speed: fc.option(rarely(fc.constantFrom(...ODD_SPEEDS), fc.constantFrom(...SPEEDS), 4), {
      nil: undefined,
    }),
    twice: rarely(fc.constant(true), fc.constant(false), 8),
  })
  .map(({ answers, repeated, speed, twice }) => {
    const simulate = `simulate=${encodeURIComponent(Array(repeated).fill(answers.join(',')).join(','))}`;
    const all = [
      simulate,
      ...(twice ? [simulate] : []),
      ...(speed === undefined ? [] : [`simulate-speed=${speed}`]),
    ];
    return `https://hooks.example.com/in?${all.join('&')}`;
  });

function numberOf({ type, minimum = -1e6, maximum = 1e6 }: Schema): fc.Arbitrary<number> {
  const inside =
    type === 'integer'
      ? fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) })
      : fc.double({ min: minimum, max: maximum, noNaN: true });
  return fc.oneof(fc.constantFrom(minimum, maximum), inside);
}

/** A changed body: a field of another type, a missing or additional field, or a text that is too long. */
export const mutated = (base: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(base, fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([value, mutations]) => mutations.reduce<unknown>((changed, mutate) => mutate(changed), value));

type Mutation = (value: unknown) => unknown;

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.nat(), oddValue).map(([at, value]) => changing(at, () => value)) },
  { weight: 2, arbitrary: fc.nat().map((at) => changing(at, longer)) },
  {
    weight: 2,
    arbitrary: fc.nat().map(
      (at): Mutation =>
        (whole) =>
          without(whole, at),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.oneof(fc.constantFrom(...ODD_NAMES), oddText), oddValue).map(
      ([name, value]): Mutation =>
        (whole) =>
          isObject(whole) ? withField(whole, name, value) : whole,
    ),
  },
  oddValue.map(
    (value): Mutation =>
      () =>
        value,
  ),
  fc.constant<Mutation>((whole) => [whole]),
);

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `__proto__` becomes a normal field, as in the result of `JSON.parse`. */
const withField = (whole: object, name: string, value: unknown): object =>
  Object.fromEntries([...Object.entries(whole), [name, value]]);

function changing(at: number, change: Mutation): Mutation {
  return (whole) => {
    if (!isObject(whole)) return change(whole);
    const names = Object.keys(whole);
    const name = names[at % names.length];
    return name === undefined ? whole : withField(whole, name, change(Object(whole)[name]));
  };
}

function without(whole: unknown, at: number): unknown {
  if (!isObject(whole)) return whole;
  const entries = Object.entries(whole);
  return Object.fromEntries(entries.filter((_, index) => index !== at % entries.length));
}

/** A value beyond a limit. */
function longer(value: unknown): unknown {
  if (typeof value === 'string') return `${value}x`;
  if (Array.isArray(value)) return [...value, ...value.slice(0, 1)];
  return typeof value === 'number' ? value + 1 : value;
}
