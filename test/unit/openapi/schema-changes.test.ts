import { describe, expect, it } from 'vitest';
import { type Resolve, resolverOf } from '../../../lib/openapi/compatibility/resolution.ts';
import { type Direction, schemaChanges } from '../../../lib/openapi/compatibility/schemas.ts';
import type { Schema } from '../../../lib/openapi/openapi.ts';
import { document } from './examples.ts';

const withSchemas = (schemas: Record<string, Schema>): Resolve =>
  resolverOf({ ...document, components: { ...document.components, schemas } });

const changes = (
  direction: Direction,
  before: Schema,
  after: Schema,
  [released, current]: [Record<string, Schema>, Record<string, Schema>] = [{}, {}],
) => {
  const how = { direction, released: withSchemas(released), current: withSchemas(current) };
  return schemaChanges(before, after, how, 'it');
};

const text: Schema = { type: 'string' };
const aThing = { $ref: '#/components/schemas/Thing' };

describe('a value in an answer', () => {
  it.each<[string, Schema, Schema, string]>([
    ['may not become null', text, { type: ['string', 'null'] }, 'it: may be null now'],
    ['may not become null by a choice', text, { anyOf: [text, { type: 'null' }] }, 'it: may be null now'],
    ['may not become null by an enumeration', { enum: ['a'] }, { enum: ['a', null] }, 'it: may be null now'],
    ['keeps its type', text, { type: 'integer' }, 'it: the type string became integer'],
    [
      'does not gain a type',
      text,
      { type: ['string', 'integer'] },
      'it: the type string became string or integer',
    ],
    ['does not lose its type', text, {}, 'it: the type string became any'],
    [
      'does not get wider as a number',
      { type: 'integer' },
      { type: 'number' },
      'it: the type integer became number',
    ],
    ['keeps its format', { ...text, format: 'uuid' }, text, 'it: format "uuid" became none'],
    [
      'does not get another format',
      { ...text, format: 'date-time' },
      { ...text, format: 'date' },
      'it: format "date-time" became "date"',
    ],
    [
      'keeps its pattern',
      { ...text, pattern: '^a' },
      { ...text, pattern: '^b' },
      'it: pattern "^a" became "^b"',
    ],
    ['keeps its constant', { const: 1 }, { const: 2 }, 'it: the constant 1 became 2'],
    ['stays an enumeration', { ...text, enum: ['a'] }, text, 'it: it is no enumeration any more'],
    ['keeps its one shape', text, { anyOf: [text, { type: 'integer' }] }, 'it: it became a choice of shapes'],
    [
      'keeps each shape of a choice',
      { oneOf: [text, { type: 'integer' }] },
      { oneOf: [text, { type: 'boolean' }] },
      'it: one of the shapes to choose from was removed or changed',
    ],
    [
      'keeps the shape of its items',
      { type: 'array', items: text },
      { type: 'array', items: { type: 'integer' } },
      'it[]: the type string became integer',
    ],
    [
      'keeps a shape for its items',
      { type: 'array', items: text },
      { type: 'array' },
      'it[]: the items may be anything now',
    ],
    [
      'keeps its fields, however deep',
      { properties: { a: { properties: { b: text } } } },
      { properties: { a: { properties: {} } } },
      'it.a.b: the field was removed',
    ],
    [
      'keeps a field that is always there',
      { properties: { a: text }, required: ['a'] },
      { properties: { a: text } },
      'it.a: it may be absent now',
    ],
    [
      'keeps the shape of named values',
      { type: 'object', additionalProperties: text },
      { type: 'object', additionalProperties: { type: 'integer' } },
      'it.*: the type string became integer',
    ],
  ])('%s', (_, before, after, message) => {
    expect(changes('answer', before, after)).toContain(message);
  });

  it.each<[string, Schema, Schema]>([
    ['gain values of an enumeration', { ...text, enum: ['a'] }, { ...text, enum: ['b', 'a'] }],
    ['lose values of an enumeration', { ...text, enum: ['a', 'b'] }, { ...text, enum: ['a'] }],
    ['never be null any more', { type: ['string', 'null'] }, text],
    ['be a whole number', { type: 'number' }, { type: 'integer' }],
    ['get a type', {}, text],
    ['get a format', text, { ...text, format: 'uuid' }],
    [
      'get a shape more where there is a choice',
      { oneOf: [text, { type: 'integer' }] },
      { oneOf: [text, { type: 'integer' }, { type: 'boolean' }] },
    ],
    [
      'be null as before, said in another way',
      { type: ['string', 'null'] },
      { anyOf: [text, { type: 'null' }] },
    ],
    [
      'be the same, said in parts',
      { properties: { a: text, b: text } },
      { allOf: [{ properties: { a: text } }, { properties: { b: text } }] },
    ],
  ])('may %s', (_, before, after) => {
    expect(changes('answer', before, after)).toEqual([]);
  });
});

describe('a value in a request', () => {
  it.each<[string, Schema, Schema, string]>([
    ['stays nullable', { type: ['string', 'null'] }, text, 'it: may not be null any more'],
    ['keeps its type', text, { type: 'integer' }, 'it: the type string became integer'],
    [
      'does not get narrower as a number',
      { type: 'number' },
      { type: 'integer' },
      'it: the type number became integer',
    ],
    ['does not get a type', {}, text, 'it: the type any became string'],
    ['does not get a format', text, { ...text, format: 'uuid' }, 'it: format none became "uuid"'],
    ['does not get a pattern', text, { ...text, pattern: '^a' }, 'it: pattern none became "^a"'],
    [
      'does not get shorter',
      { ...text, maxLength: 9 },
      { ...text, maxLength: 8 },
      'it: maxLength was tightened to 8',
    ],
    ['does not get a longest length', text, { ...text, maxLength: 8 }, 'it: maxLength was tightened to 8'],
    ['does not get a shortest length', text, { ...text, minLength: 1 }, 'it: minLength was tightened to 1'],
    ['does not get smaller', { maximum: 9 }, { maximum: 8 }, 'it: maximum was tightened to 8'],
    ['does not get larger', { minimum: 0 }, { minimum: 1 }, 'it: minimum was tightened to 1'],
    ['does not get fewer items', { maxItems: 9 }, { maxItems: 8 }, 'it: maxItems was tightened to 8'],
    [
      'may repeat its items',
      { type: 'array' },
      { type: 'array', uniqueItems: true },
      'it: items must be distinct now',
    ],
    ['keeps its values', { enum: ['a', 'b'] }, { enum: ['a'] }, 'it: "b" is not accepted any more'],
    [
      'keeps its values in a list',
      { ...text, pattern: '^(a|b)(,(a|b))*$' },
      { ...text, pattern: '^(a|c)(,(a|c))*$' },
      'it: "b" is not accepted any more',
    ],
    ['stays free', text, { ...text, enum: ['a'] }, 'it: only "a" is accepted now'],
    [
      'keeps its default',
      { ...text, default: 'a' },
      { ...text, default: 'b' },
      'it: the default "a" became "b"',
    ],
    ['keeps its fields', { properties: { a: text } }, { properties: {} }, 'it.a: the field was removed'],
    [
      'needs no more fields',
      { properties: { a: text } },
      { properties: { a: text }, required: ['a'] },
      'it.a: it became required',
    ],
    [
      'may have unknown fields',
      { type: 'object' },
      { type: 'object', additionalProperties: false },
      'it: unknown fields are refused now',
    ],
    [
      'keeps free items',
      { type: 'array' },
      { type: 'array', items: text },
      'it[]: the items may not be anything any more',
    ],
    [
      'keeps each shape of a choice',
      { oneOf: [text, { type: 'integer' }] },
      text,
      'it: one of the shapes to choose from was removed or changed',
    ],
  ])('%s', (_, before, after, message) => {
    expect(changes('request', before, after)).toContain(message);
  });

  it.each<[string, Schema, Schema]>([
    ['gain values', { ...text, enum: ['a'] }, { ...text, enum: ['a', 'b'] }],
    [
      'gain values in a list',
      { ...text, pattern: '^(a\\.b)(,(a\\.b))*$' },
      { ...text, pattern: '^(c|a\\.b)(,(c|a\\.b))*$' },
    ],
    ['get free', { ...text, enum: ['a'] }, text],
    ['become null', text, { type: ['string', 'null'] }],
    ['be a broken number', { type: 'integer' }, { type: 'number' }],
    ['lose its limits', { ...text, maxLength: 9, minLength: 2, pattern: '^a', format: 'uuid' }, text],
    ['get a default', text, { ...text, default: 'a' }],
    ['get another shape to choose from', text, { anyOf: [text, { type: 'integer' }] }],
    ['need fewer fields', { properties: { a: text }, required: ['a'] }, { properties: { a: text } }],
  ])('may %s', (_, before, after) => {
    expect(changes('request', before, after)).toEqual([]);
  });
});

describe('a named schema', () => {
  it('is compared by its content, in both directions', () => {
    expect(changes('answer', aThing, text, [{ Thing: text }, {}])).toEqual([]);
    expect(changes('answer', text, aThing, [{}, { Thing: { type: 'integer' } }])).not.toEqual([]);
  });

  it('may become a choice of named schemas that an answer had already', () => {
    const kind = (...values: string[]): Schema => ({
      type: 'object',
      properties: { kind: { ...text, enum: values } },
      required: ['kind'],
    });
    const choice = { oneOf: [aThing, { $ref: '#/components/schemas/Other' }] };
    const named = { Thing: kind('a'), Other: kind('b') };
    expect(changes('answer', kind('a', 'b'), choice, [{}, named])).toEqual([]);
    expect(changes('answer', kind('a', 'b'), choice, [{}, { ...named, Other: text }])).toEqual([
      'it: it became a choice of shapes',
    ]);
  });

  it('may have another name', () => {
    const other = { $ref: '#/components/schemas/Other' };
    expect(changes('answer', aThing, other, [{ Thing: text }, { Other: text }])).toEqual([]);
  });

  it('may have keywords beside its reference', () => {
    expect(changes('answer', { ...aThing, description: 'a thing' }, text, [{ Thing: text }, {}])).toEqual([]);
  });

  it('may contain itself', () => {
    const tree = (leaf: Schema): Schema => ({
      type: 'object',
      properties: { leaf, branches: { type: 'array', items: aThing } },
    });
    expect(changes('answer', aThing, aThing, [{ Thing: tree(text) }, { Thing: tree(text) }])).toEqual([]);
    expect(changes('answer', aThing, aThing, [{ Thing: tree(text) }, { Thing: tree({}) }])).not.toEqual([]);
  });

  it('causes an error when it does not exist', () => {
    expect(() => changes('answer', aThing, text)).toThrow('nothing is at #/components/schemas/Thing');
  });
});
