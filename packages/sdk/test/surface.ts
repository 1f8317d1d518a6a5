import type { Operation } from '../src/operations.ts';
import { Pages } from '../src/pages.ts';
import { createResources } from '../src/resources.ts';
import { resultOf } from '../src/result.ts';
import { ROUTES } from '../src/routes.gen.ts';
import type { Transport } from '../src/transport.ts';

/** A method of the client, and the operation that it calls. */
export interface Method {
  operation: Operation;
  name: string;
  route: string;
}

/** Calls every method of a client without a service, and notes which operation each of them asks for. */
export function listMethods(): Method[] {
  const asked: Operation[] = [];
  const answer = async <T>(data: T) => ({ data, status: 200, headers: new Headers(), requestId: undefined });
  const transport: Transport = {
    send: async (operation) => {
      asked.push(operation);
      return answer(undefined as never);
    },
    list: (operation) => {
      asked.push(operation);
      // With an item, so that a follower does not poll.
      return new Pages(() =>
        resultOf(answer({ data: [{} as never], nextCursor: null, followCursor: 'next' }), (page) => page),
      );
    },
  };
  const methods: Method[] = [];
  const visit = (value: unknown, name: string): void => {
    if (typeof value !== 'function') {
      for (const [key, part] of Object.entries(Object(value))) visit(part, `${name}.${key}`);
      return;
    }
    const result: unknown = value('id', 'id2');
    // Generators ask when they are read.
    if (typeof Object(result).next === 'function') void Object(result).next();
    const operation = asked.at(-1);
    if (operation !== undefined) methods.push({ operation, name, route: ROUTES[operation] });
  };
  visit(createResources(transport), 'client');
  return [
    ...methods,
    ...WIDGET_METHODS.map(([name, operation]) => ({
      operation,
      name: `widget.${name}`,
      route: ROUTES[operation],
    })),
  ];
}

const WIDGET_METHODS = [
  ['messages', 'readWidgetMessages'],
  ['follow', 'readWidgetMessages'],
  ['send', 'createWidgetMessage'],
] as const;

/** The page that says which method calls an operation. */
export function writeCoveragePage(): string {
  const rows = listMethods().map(
    ({ operation, name, route }) => `| \`${operation}\` | \`${route}\` | \`${name}\` |`,
  );
  return [
    '# Methods of the TypeScript client',
    '',
    'Written by `npm run generate -- sdk` from the client, and compared with the API document by a test.',
    '',
    '| Operation | Route | Method |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
