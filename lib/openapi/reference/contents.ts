import type { OpenApiDocument, Operation } from '../openapi.ts';
import { getSessionOperationId } from '../session-routes.ts';

/** An operation, or an event that a receiver gets, as the reference shows it. */
export interface Item {
  id: string;
  /** In upper case; undefined for an event. */
  method: string | undefined;
  /** Path of the operation, or type of the event. */
  path: string;
  operation: Operation;
  /** The same operation for dashboard sessions, which has no place of its own. */
  session: { path: string; role: string } | undefined;
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
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const byId = new Map(operations.map((each) => [each.operation.operationId, each]));
  const items = operations
    .filter(({ operation }) => !isOfSession(operation, byId))
    .map(({ path, method, operation }): Item => {
      const twin = byId.get(getSessionOperationId(operation.operationId));
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        operation,
        session: twin && { path: twin.path, role: twin.operation['x-required-role'] ?? '' },
      };
    });
  const events = Object.entries(webhooks).flatMap(([type, { post: operation }]): Item[] =>
    operation === undefined
      ? []
      : [{ id: operation.operationId, method: undefined, path: type, operation, session: undefined }],
  );
  const byTag = Map.groupBy([...items, ...events], ({ operation }) => operation.tags[0]);
  return tags.flatMap(({ name, description }) => {
    const ofTag = byTag.get(name);
    return ofTag === undefined
      ? []
      : [{ id: `group-${name.toLowerCase().replaceAll(' ', '-')}`, name, description, items: ofTag }];
  });
}

/** Whether an operation repeats another one for dashboard sessions. */
const isOfSession = ({ operationId }: Operation, byId: ReadonlyMap<string, unknown>): boolean =>
  [...byId.keys()].some((id) => getSessionOperationId(id) === operationId);
