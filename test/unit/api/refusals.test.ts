import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { routes } from '../../../functions/api/routes.ts';
import type { Route } from '../../../functions/http/route.ts';
import { parseBody, parseQuery } from '../../../functions/http/validation.ts';
import { aGatewayEvent } from '../../support/functions.ts';

/*
 * Each field of each request of the route table, with values that break its constraints: the text of every
 * constraint arrives as it is declared, and no other word of the schema library.
 */

const LONG = 'x'.repeat(100_001);
const URLS = [
  'https://example.com:22/',
  'http://example.com/',
  'https://example.com/#x',
  'https://a:b@example.com/',
  'https://example.com/\\',
  'https://example.com/ ',
  'https://example.com/\ud800',
  'https://',
  `https://example.com/${'x'.repeat(2048)}`,
];
const TEXTS = ['', LONG, 'nonsense', '\u000b', '\u0000', '\ud800', '2026-11-20', 'a,b', ...URLS];
const NUMBERS = [1.5, 0, -1, 1e9, 2 ** 60, 33.333, Number.MAX_VALUE];
const LISTS = [[], ['nonsense'], [1], Array.from({ length: 60 }, () => 'nonsense')];
const VALUES: unknown[] = [...TEXTS, ...NUMBERS, ...LISTS, {}, true, null];

type Schema = z.core.$ZodType;
interface Field {
  schema: Schema;
  name: string;
  refuse(value: unknown): string[];
}

const shapeOf = (schema: Schema): Readonly<Record<string, Schema>> => {
  if (schema instanceof z.ZodMiniObject) return schema.shape;
  const { innerType } = Object(schema._zod.def);
  return innerType === undefined ? {} : shapeOf(innerType);
};

/** The messages of the faults of a refused request that are about one field, or about one of its items. */
const messagesOf = (parsed: ReturnType<typeof parseBody>, field: string): string[] =>
  parsed.ok
    ? []
    : (parsed.problem.details ?? [])
        .filter((fault) => fault.field === field || fault.field.startsWith(`${field}.`))
        .map(({ message }) => message);

const fieldsOf = (route: Route): Field[] => [
  ...Object.entries(shapeOf(route.body ?? z.object({}))).map(([name, schema]) => ({
    name: `${route.name} ${name}`,
    schema,
    refuse: (value: unknown) => {
      const headers = { 'Content-Type': 'application/json' };
      const event = aGatewayEvent({ headers, body: JSON.stringify({ [name]: value }) });
      return messagesOf(parseBody(event, route), name);
    },
  })),
  ...Object.entries(route.query?.shape ?? {}).map(([name, schema]) => ({
    name: `${route.name} ?${name}`,
    schema,
    refuse: (value: unknown) =>
      messagesOf(
        parseQuery(aGatewayEvent({ queryStringParameters: { [name]: String(value) } }), route),
        name,
      ),
  })),
];

const FIELDS = Object.values<Route>(routes).flatMap(fieldsOf);

/** Every text that a schema declares, its parts and checks included. */
function declaredIn(schema: Schema): string[] {
  const { error, checks = [], ...parts } = Object(schema._zod.def);
  const own = typeof error === 'function' ? error({ code: 'invalid_type', input: 1 }) : undefined;
  const inner = [parts.innerType, parts.element, parts.in, parts.out].filter(
    (part) => part?._zod !== undefined,
  );
  return [...(typeof own === 'string' ? [own] : []), ...[...checks, ...inner].flatMap(declaredIn)];
}

/** How a constraint is said where its schema declares no text. */
const GENERAL =
  /^(?:is required|must be an? (?:string|number|integer|boolean|array|object)|must be one of [\w.:, ]+|must (?:be|have) at (?:least|most) \d+(?: (?:character|item)s?)?)$/;

/** The texts of a receiver's URL, which its parser declares. */
const OF_URLS = /^(?:port )?must (?:be (?:443|a valid|well-formed|at most 2048)|not contain|use https)/;

describe('a refused value', () => {
  it.each(FIELDS)('of $name has a declared text, or the general one of its kind', ({ schema, refuse }) => {
    const declared = declaredIn(schema);
    for (const message of VALUES.flatMap(refuse))
      if (!declared.includes(message) && !OF_URLS.test(message)) expect(message).toMatch(GENERAL);
  });

  it.each(FIELDS.filter(({ schema }) => declaredIn(schema).length > 0))(
    'of $name gets each text that is declared',
    ({ schema, refuse }) => {
      // Names twice that a list permits.
      const named = findOptions(schema).slice(0, 1);
      const messages = [...VALUES, [...named, ...named], [...findOptions(schema), ...named]].flatMap(refuse);
      expect([...new Set(messages)]).toEqual(expect.arrayContaining(declaredIn(schema)));
    },
  );

  it.each(URLS)('such as the URL %j says what it breaks', (url) => {
    const { refuse } = FIELDS.find(({ name }) => name === 'register-webhook url') ?? { refuse: () => [] };
    expect(refuse(url)).toEqual([expect.stringMatching(OF_URLS)]);
  });
});

function findOptions(schema: Schema): string[] {
  const { entries, element, innerType } = Object(schema._zod.def);
  if (entries !== undefined) return Object.values(entries);
  return element || innerType ? findOptions(element ?? innerType) : [];
}
