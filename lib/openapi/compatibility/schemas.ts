import { isDeepStrictEqual } from 'node:util';
import type { Schema } from '../openapi.ts';
import {
  alternativesOf,
  fits,
  LOWER_LIMITS,
  namesInPattern,
  typesOf,
  UPPER_LIMITS,
  valuesOf,
} from './facets.ts';
import { flattened, isNullable, type Resolve, refOf } from './resolution.ts';

/** Who made the value: what clients send must stay accepted, what they are given must stay what they know. */
export type Direction = 'request' | 'answer';

/** A released and a current thing, each with its document's references. */
export interface Comparison {
  direction: Direction;
  released: Resolve;
  current: Resolve;
  /** References that are being compared, so that a schema within itself comes to an end. */
  under?: readonly string[];
}

/**
 * What breaks clients when a schema changes from one to the other.
 * @returns one line for each change, which begins with its place within the value
 */
export function schemaChanges(released: Schema, current: Schema, how: Comparison, place: string): string[] {
  const pair = `${refOf(released)} ${refOf(current)}`;
  const { under = [] } = how;
  if (refOf(released) !== undefined && under.includes(pair)) return [];
  const deeper = { ...how, under: [...under, pair] };
  const before = flattened(released, how.released);
  const after = flattened(current, how.current);

  const nulls = nullChanges(before, after, how).map((change) => `${place}: ${change}`);
  const choices = [alternativesOf(before), alternativesOf(after)];
  if (choices.some((choice) => choice !== undefined))
    return [...nulls, ...choiceChanges(before, after, deeper, place)];
  const own = how.direction === 'request' ? requestChanges(before, after) : answerChanges(before, after);
  return [
    ...nulls,
    ...own.map((change) => `${place}: ${change}`),
    ...propertyChanges(before, after, deeper, place),
    ...itemChanges(before, after, deeper, place),
  ];
}

function nullChanges(before: Schema, after: Schema, { direction, released, current }: Comparison): string[] {
  const [was, is] = [isNullable(before, released), isNullable(after, current)];
  if (direction === 'answer' && is && !was) return ['may be null now'];
  if (direction === 'request' && was && !is) return ['may not be null any more'];
  return [];
}

/** What is accepted may only grow. */
function requestChanges(before: Schema, after: Schema): string[] {
  const changes: string[] = [];
  const [was, is] = [typesOf(before), typesOf(after)];
  if (is !== undefined && (was === undefined || !was.every((type) => fits(type, is))))
    changes.push(retyped(was, is));
  const accepted = valuesOf(after);
  if (accepted !== undefined) {
    const refused = valuesOf(before)?.filter((value) => !includes(accepted, value));
    if (refused === undefined) changes.push(`only ${list(accepted)} is accepted now`);
    else if (refused.length > 0) changes.push(`${list(refused)} is not accepted any more`);
  }
  const names = namesInPattern(after);
  const missing = names && namesInPattern(before)?.filter((name) => !names.includes(name));
  if (missing !== undefined && missing.length > 0) changes.push(`${list(missing)} is not accepted any more`);
  for (const keyword of ['format', ...(missing === undefined ? ['pattern'] : []), 'multipleOf'])
    if (facet(after, keyword) !== undefined && facet(after, keyword) !== facet(before, keyword))
      changes.push(`${keyword} ${shown(facet(before, keyword))} became ${shown(facet(after, keyword))}`);
  for (const keyword of UPPER_LIMITS)
    if (Number(facet(after, keyword) ?? Infinity) < Number(facet(before, keyword) ?? Infinity))
      changes.push(`${keyword} was tightened to ${shown(facet(after, keyword))}`);
  for (const [keyword, absent] of Object.entries(LOWER_LIMITS))
    if (Number(facet(after, keyword) ?? absent) > Number(facet(before, keyword) ?? absent))
      changes.push(`${keyword} was tightened to ${shown(facet(after, keyword))}`);
  if (after.uniqueItems === true && before.uniqueItems !== true) changes.push('items must be distinct now');
  if (after.additionalProperties === false && before.additionalProperties !== false)
    changes.push('unknown fields are refused now');
  if (before.default !== undefined && !isDeepStrictEqual(before.default, after.default))
    changes.push(`the default ${shown(before.default)} became ${shown(after.default)}`);
  return changes;
}

/** What is given may gain values of an enumeration, and nothing else. */
function answerChanges(before: Schema, after: Schema): string[] {
  const changes: string[] = [];
  const [was, is] = [typesOf(before), typesOf(after)];
  if (was !== undefined && !sameTypes(was, is)) changes.push(retyped(was, is));
  const [values, given] = [valuesOf(before), valuesOf(after)];
  if (before.const !== undefined && !isDeepStrictEqual(before.const, after.const))
    changes.push(`the constant ${shown(before.const)} became ${shown(after.const ?? after.enum)}`);
  else if (values !== undefined && given === undefined) changes.push('it is no enumeration any more');
  for (const keyword of ['format', 'pattern'] as const)
    if (facet(before, keyword) !== undefined && facet(after, keyword) !== facet(before, keyword))
      changes.push(`${keyword} ${shown(facet(before, keyword))} became ${shown(facet(after, keyword))}`);
  return changes;
}

const sameTypes = (was: readonly string[], is: readonly string[] | undefined): boolean =>
  is?.every((type) => fits(type, was)) === true && (is.length > 0 || was.length === 0);

/**
 * Every shape that there was must still be there, changed at most as its direction allows. Others may be
 * added.
 */
function choiceChanges(before: Schema, after: Schema, how: Comparison, place: string): string[] {
  const was = alternativesOf(before);
  const shapes = alternativesOf(after) ?? [withoutNull(after)];
  // Where an answer had one shape, clients expect no other; where it had a choice, that may grow like an
  // enumeration.
  if (was === undefined && how.direction === 'answer')
    return shapes.some((shape) => schemaChanges(withoutNull(before), shape, how, place).length > 0)
      ? [`${place}: it became a choice of shapes`]
      : [];
  return (was ?? [withoutNull(before)])
    .filter((shape) => !shapes.some((kept) => schemaChanges(shape, kept, how, place).length === 0))
    .map(() => `${place}: one of the shapes to choose from was removed or changed`);
}

const withoutNull = (schema: Schema): Schema => ({
  ...schema,
  ...(schema.type === undefined ? {} : { type: [...(typesOf(schema) ?? [])] }),
});

function propertyChanges(before: Schema, after: Schema, how: Comparison, place: string): string[] {
  const changes: string[] = [];
  const [was, is] = [before.properties ?? {}, after.properties ?? {}];
  for (const [name, schema] of Object.entries(was)) {
    const at = `${place}.${name}`;
    const now = is[name];
    if (now === undefined) changes.push(`${at}: the field was removed`);
    else changes.push(...schemaChanges(schema, now, how, at));
  }
  const required = { was: before.required ?? [], is: after.required ?? [] };
  if (how.direction === 'request')
    for (const name of required.is.filter((field) => !required.was.includes(field)))
      changes.push(`${place}.${name}: it became required`);
  else
    for (const name of required.was.filter((field) => field in is && !required.is.includes(field)))
      changes.push(`${place}.${name}: it may be absent now`);
  return changes;
}

function itemChanges(before: Schema, after: Schema, how: Comparison, place: string): string[] {
  const changes: string[] = [];
  if (before.items !== undefined && after.items !== undefined)
    changes.push(...schemaChanges(before.items, after.items, how, `${place}[]`));
  else if (before.items !== undefined && how.direction === 'answer')
    changes.push(`${place}[]: the items may be anything now`);
  else if (after.items !== undefined && how.direction === 'request')
    changes.push(`${place}[]: the items may not be anything any more`);
  const [was, is] = [before.additionalProperties, after.additionalProperties];
  if (typeof was === 'object' && typeof is === 'object')
    changes.push(...schemaChanges(was, is, how, `${place}.*`));
  else if (typeof was === 'object' && how.direction === 'answer')
    changes.push(`${place}.*: the fields may be anything now`);
  return changes;
}

const facet = (schema: Schema, keyword: string): unknown => Object(schema)[keyword];
const includes = (values: readonly unknown[], wanted: unknown): boolean =>
  values.some((value) => isDeepStrictEqual(value, wanted));
const shown = (value: unknown): string => (value === undefined ? 'none' : JSON.stringify(value));
const list = (values: readonly unknown[]): string => values.map(shown).join(', ');
const retyped = (was: readonly string[] | undefined, is: readonly string[] | undefined): string =>
  `the type ${was?.join(' or ') ?? 'any'} became ${is?.join(' or ') ?? 'any'}`;
