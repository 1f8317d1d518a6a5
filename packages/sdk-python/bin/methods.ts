import { listMethods } from '../../sdk/test/surface.ts';
import type { Operation } from './api-document.ts';
import { toSnakeCase } from './names.ts';

/** A method of the client: that of the TypeScript client, with a name of Python. */
export interface Method {
  operation: Operation;
  /** Resources that lead to it: `['conversations', 'messages']`. The widget has none. */
  resource: readonly string[];
  name: string;
  /** As readers write it: `client.conversations.messages.create`. */
  text: string;
  /** Parameters of the path, with the arguments that give them. */
  path: readonly { name: string; argument: string }[];
}

/** @throws Error when the TypeScript client has no method for an operation */
export function listPythonMethods(operations: readonly Operation[]): Method[] {
  const methods = listMethods().map(({ operation: id, name }) => {
    const operation = operations.find((each) => each.id === id);
    if (operation === undefined) throw new Error(`The document has no operation ${id}.`);
    const [root, ...parts] = name.split('.').map(toSnakeCase);
    return {
      operation,
      resource: parts.slice(0, -1),
      name: parts.at(-1) ?? '',
      text: [root, ...parts].join('.'),
      path: argumentsOf(operation),
    };
  });
  const missing = operations.filter(({ id }) => !methods.some(({ operation }) => operation.id === id));
  if (missing.length > 0) throw new Error(`No method for ${missing.map(({ id }) => id).join(', ')}.`);
  return methods;
}

/** `id` is named after the resource before it: `conversations/{id}` → `conversation_id`. */
const argumentsOf = ({ path }: Operation) =>
  [...path.matchAll(/(\w+)\/\{(\w+)\}/g)].map(([, collection = '', name = '']) => ({
    name,
    // The path alone calls an endpoint a webhook.
    argument:
      name === 'id' ? `${collection.replace('webhook', 'endpoint').replace(/s$/, '')}_id` : toSnakeCase(name),
  }));
