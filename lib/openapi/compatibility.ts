import { eventChanges } from './compatibility/events.ts';
import { type Documents, operationChanges } from './compatibility/operations.ts';
import { resolverOf } from './compatibility/resolution.ts';
import type { OpenApiDocument, Operation } from './openapi.ts';

const RULE = 'docs/specification.md, Versioning: a breaking change ships as a new version';
const EVENT_RULE = 'docs/specification.md, Versioning: a changed payload has a new schemaVersion';

/**
 * What in a document breaks clients and receivers that were written against the released one
 * (docs/specification.md, Versioning). Additions break none: operations, optional parameters and fields of
 * requests, fields, headers and enumeration values of answers, events.
 * @returns one sentence for each change, naming operation, place and rule; none when everything still works
 */
export function breakingChanges(released: OpenApiDocument, current: OpenApiDocument): string[] {
  const documents: Documents = {
    released: { document: released, resolve: resolverOf(released) },
    current: { document: current, resolve: resolverOf(current) },
  };
  return [
    ...changesOf(operationsOf(released.paths), operationsOf(current.paths), (was, is) =>
      operationChanges(was, is, documents),
    ).map((change) => `${change} (${RULE})`),
    ...changesOf(operationsOf(released.webhooks), operationsOf(current.webhooks), (was, is) =>
      eventChanges(was, is, documents),
    ).map((change) => `event ${change} (${EVENT_RULE})`),
  ];
}

interface Named {
  /** Method and path as the document has them. */
  name: string;
  operation: Operation;
}

/** Operations by method and path; what a path's parameters are called makes no other path. */
const operationsOf = (paths: OpenApiDocument['paths']): Map<string, Named> =>
  new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]): [string, Named] => {
        const name = `${method.toUpperCase()} ${path}`;
        return [name.replaceAll(/\{[^}]*\}/g, '{}'), { name, operation }];
      }),
    ),
  );

const changesOf = (
  released: ReadonlyMap<string, Named>,
  current: ReadonlyMap<string, Named>,
  compare: (was: Operation, is: Operation) => string[],
): string[] =>
  [...released].flatMap(([key, { name, operation }]) => {
    const now = current.get(key);
    return now === undefined
      ? [`${name}: it was removed`]
      : compare(operation, now.operation).map((change) => `${name}: ${change}`);
  });
