import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/routes.gen.ts';
import { writeRoutes } from '../routes.ts';
import { listMethods, writeCoveragePage } from '../surface.ts';

const SDK = join(import.meta.dirname, '../..');
const DOCS = join(SDK, '../../docs');

describe('the client', () => {
  it('has the route of every operation of the document: npm run generate -- sdk', () => {
    expect(readFileSync(join(SDK, 'src/routes.gen.ts'), 'utf8')).toBe(writeRoutes());
  });

  it('has a method for every operation, and one operation for every method', () => {
    const methods = listMethods();
    const called = new Set(methods.map(({ operation }) => operation));
    expect(Object.keys(ROUTES).filter((operation) => !called.has(operation as never))).toEqual([]);
    // Two lists can be followed as well.
    expect(methods.length).toBe(called.size + 2);
  });

  it('is described by the reference page: npm run generate -- sdk', () => {
    expect(readFileSync(join(DOCS, 'reference/typescript-client.md'), 'utf8')).toBe(writeCoveragePage());
  });
});
