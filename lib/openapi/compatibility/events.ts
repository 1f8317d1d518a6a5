import { isDeepStrictEqual } from 'node:util';
import type { Operation, Parameter, Schema } from '../openapi.ts';
import { contentChanges, type Documents } from './operations.ts';
import { flattened, type Resolve } from './resolution.ts';
import { schemaChanges } from './schemas.ts';

/**
 * What breaks the receivers of an event. @returns one line for each change, which begins with its place in
 * the delivery
 */
export function eventChanges(released: Operation, current: Operation, documents: Documents): string[] {
  return [
    ...payloadChanges(released, current, documents),
    ...headerChanges(released, current, documents),
    ...Object.keys(released.responses)
      .filter((status) => status.startsWith('2') && !(status in current.responses))
      .map((status) => `receiver's answer ${status}: it is no success any more`),
  ];
}

const JSON_TYPE = 'application/json';

function payloadChanges(released: Operation, current: Operation, documents: Documents): string[] {
  const before = released.requestBody?.content ?? {};
  const after = current.requestBody?.content;
  const [was, is] = [before[JSON_TYPE]?.schema, after?.[JSON_TYPE]?.schema];
  if (was === undefined || is === undefined)
    return contentChanges(before, after, 'answer', documents, 'payload');

  const shape = {
    was: shapeOf(was, documents.released.resolve),
    is: shapeOf(is, documents.current.resolve),
  };
  const version = { was: versionOf(shape.was), is: versionOf(shape.is) };
  if (isDeepStrictEqual(version.was, version.is))
    return isDeepStrictEqual(shape.was, shape.is)
      ? []
      : [`payload: it changed, but schemaVersion is still ${JSON.stringify(version.is)}`];
  if (!(typeof version.is === 'number' && typeof version.was === 'number' && version.is > version.was))
    return [`payload: schemaVersion ${JSON.stringify(version.was)} became ${JSON.stringify(version.is)}`];
  // With a new version `data` may be another; what tells the version, and whose event it is, may not.
  return schemaChanges(
    withoutVersioned(shape.was),
    withoutVersioned(shape.is),
    { direction: 'answer', released: documents.released.resolve, current: documents.current.resolve },
    'payload',
  );
}

const versionOf = ({ properties }: Schema): unknown => properties?.schemaVersion?.const;

function withoutVersioned({ properties = {}, ...rest }: Schema): Schema {
  const { schemaVersion, data, ...others } = properties;
  return { ...rest, properties: others };
}

/** Keywords that say nothing of the values. */
const ANNOTATIONS = new Set(['description', 'examples', 'example', 'title', 'deprecated', '$comment']);

/**
 * A schema without references and annotations, so that equal shapes are equal objects. Event payloads are not
 * recursive.
 */
function shapeOf(schema: Schema, resolve: Resolve): Schema {
  const plain = Object.entries(flattened(schema, resolve))
    .filter(([keyword]) => !ANNOTATIONS.has(keyword))
    .map(([keyword, value]): [string, unknown] => {
      if (keyword === 'properties')
        return [
          keyword,
          Object.fromEntries(
            Object.entries(value as Record<string, Schema>).map(([name, property]) => [
              name,
              shapeOf(property, resolve),
            ]),
          ),
        ];
      if (keyword === 'items') return [keyword, shapeOf(value as Schema, resolve)];
      if (keyword === 'anyOf' || keyword === 'oneOf')
        return [keyword, (value as Schema[]).map((option) => shapeOf(option, resolve))];
      // What is a set may be written in any order.
      if (['required', 'enum', 'type'].includes(keyword) && Array.isArray(value))
        return [keyword, [...value].sort()];
      return [keyword, value];
    });
  return Object.fromEntries(plain);
}

/** Headers are given to the receiver, so they may only be added to. */
function headerChanges(released: Operation, current: Operation, documents: Documents): string[] {
  const headersOf = ({ parameters = [] }: Operation, resolve: Resolve) =>
    new Map(
      parameters.map((parameter) => {
        const resolved = resolve<Parameter>(parameter);
        return [resolved.name.toLowerCase(), resolved] as const;
      }),
    );
  const is = headersOf(current, documents.current.resolve);
  return [...headersOf(released, documents.released.resolve)].flatMap(([name, header]) => {
    const now = is.get(name);
    const place = `header ${name}`;
    if (now === undefined) return [`${place}: it was removed`];
    return [
      ...(header.required && !now.required ? [`${place}: it may be absent now`] : []),
      ...schemaChanges(
        header.schema,
        now.schema,
        { direction: 'answer', released: documents.released.resolve, current: documents.current.resolve },
        place,
      ),
    ];
  });
}
