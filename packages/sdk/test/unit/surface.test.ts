import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/operations.ts';
import { listMethods, writeCoveragePage } from '../surface.ts';

const DOCS = join(import.meta.dirname, '../../../../docs');

interface Document {
  paths: Record<string, Record<string, { operationId?: string }>>;
}

/** Operations of the API for keys and visitor tokens, with their routes. */
function readOperations(): Record<string, string> {
  const { paths }: Document = JSON.parse(readFileSync(join(DOCS, 'openapi/v1.json'), 'utf8'));
  return Object.fromEntries(
    Object.entries(paths).flatMap(([path, item]) =>
      path.startsWith('/api/v1/')
        ? Object.entries(item).flatMap(([method, { operationId }]) =>
            operationId === undefined ? [] : [[operationId, `${method.toUpperCase()} ${path}`]],
          )
        : [],
    ),
  );
}

describe('the client', () => {
  it('has the route of every operation of the document', () => {
    expect(ROUTES).toEqual(readOperations());
  });

  it('has a method for every operation, and one operation for every method', () => {
    const methods = listMethods();
    const called = new Set(methods.map(({ operation }) => operation));
    expect(Object.keys(ROUTES).filter((operation) => !called.has(operation as never))).toEqual([]);
    // Following the log is another way to read the list.
    expect(methods.length).toBe(called.size + 1);
  });

  it('is described by the reference page: npm run generate -- sdk', () => {
    expect(readFileSync(join(DOCS, 'reference/typescript-client.md'), 'utf8')).toBe(writeCoveragePage());
  });
});
