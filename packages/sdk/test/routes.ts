import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Document {
  paths: Record<string, Record<string, { operationId?: string }>>;
}

const DOCUMENT = join(import.meta.dirname, '../../../docs/openapi/v1.json');

/** Method and path of every operation for keys and visitor tokens, as the API's document has them. */
function readRoutes(): Record<string, string> {
  const { paths }: Document = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
  return Object.fromEntries(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, { operationId }]) =>
        operationId === undefined ? [] : [[operationId, `${method.toUpperCase()} ${path}`]],
      ),
    ),
  );
}

/** The text of `src/routes.gen.ts`. */
export const writeRoutes = (): string =>
  [
    '// Written by `npm run generate -- sdk` from docs/openapi/v1.json.',
    "import type { Operation } from './operations.ts';",
    '',
    '/** Method and path of every operation. */',
    'export const ROUTES = {',
    ...Object.entries(readRoutes()).map(([operation, route]) => `  ${operation}: '${route}',`),
    '} as const satisfies Record<Operation, string>;',
    '',
  ].join('\n');
