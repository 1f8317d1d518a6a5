import type { OpenApiDocument, Operation } from '../openapi.ts';

/** An operation, or an event that a receiver gets, as the reference shows it. */
export interface Item {
  id: string;
  /** In upper case; undefined for an event. */
  method: string | undefined;
  /** Path of the operation, or type of the event. */
  path: string;
  operation: Operation;
}

export interface Group {
  id: string;
  name: string;
  description: string;
  items: readonly Item[];
}

/** The operations and events of a document by their tags, in the document's order. */
export function groupsOf({ paths, webhooks, tags }: OpenApiDocument): Group[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): Item => ({
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        operation,
      }),
    ),
  );
  const events = Object.entries(webhooks).flatMap(([type, { post: operation }]): Item[] =>
    operation === undefined ? [] : [{ id: operation.operationId, method: undefined, path: type, operation }],
  );
  const byTag = Map.groupBy([...operations, ...events], ({ operation }) => operation.tags[0]);
  return tags.flatMap(({ name, description }) => {
    const ofTag = byTag.get(name);
    return ofTag === undefined
      ? []
      : [{ id: `group-${name.toLowerCase().replaceAll(' ', '-')}`, name, description, items: ofTag }];
  });
}
