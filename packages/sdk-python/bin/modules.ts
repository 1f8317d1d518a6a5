import { type ApiDocument, listOperations, readDocument } from './api-document.ts';
import { listPythonMethods } from './methods.ts';
import { writeErrorTypes, writeEvents, writeOperations } from './operations-module.ts';
import { writeResources } from './resources-module.ts';

const GENERATED = 'packages/sdk-python/src/conversation_service/generated';

/** Modules that are written without Python, by their paths in the repository. */
export function writeModules(document: ApiDocument = readDocument()): Record<string, string> {
  const modules = {
    '__init__.py': '',
    'operations.py': writeOperations(document),
    'events.py': writeEvents(document),
    'error_types.py': writeErrorTypes(document),
    ...writeResources(document),
  };
  return Object.fromEntries(Object.entries(modules).map(([name, text]) => [`${GENERATED}/${name}`, text]));
}

export const COVERAGE_PAGE = 'docs/reference/python-client.md';

/** The page that says which method calls an operation. */
export function writeCoveragePage(document: ApiDocument = readDocument()): string {
  const rows = listPythonMethods(listOperations(document)).map(
    ({ operation: { id, method, path }, text }) => `| \`${id}\` | \`${method} ${path}\` | \`${text}\` |`,
  );
  return [
    '# Methods of the Python client',
    '',
    'Written by `npm run generate -- python`. `AsyncClient` and `AsyncWidget` have the same methods.',
    '',
    '| Operation | Route | Method |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
