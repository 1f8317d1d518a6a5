import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listOperations, ROOT, readDocument } from '../../bin/api-document.ts';
import { COVERAGE_PAGE, writeCoveragePage } from '../../bin/modules.ts';
import { toSnakeCase } from '../../bin/names.ts';

const page = writeCoveragePage();

describe('the Python client', () => {
  it('has a current page of its methods: npm run generate -- python', () => {
    expect(readFileSync(join(ROOT, COVERAGE_PAGE), 'utf8')).toBe(page);
  });

  it('has a method for every operation of the document', () => {
    const rows = page.matchAll(/^\| `(\w+)` \| `(\S+ \S+)` \|/gm);
    const listed = [...rows].map(([, id, route]) => `${id} ${route}`);
    const operations = listOperations(readDocument()).map(
      ({ id, method, path }) => `${id} ${method} ${path}`,
    );
    expect(new Set(listed)).toEqual(new Set(operations));
    // Two lists can be followed as well.
    expect(listed.length).toBe(operations.length + 2);
  });

  it('has the version of the repository', () => {
    const version = readFileSync(
      join(ROOT, 'packages/sdk-python/src/conversation_service/version.py'),
      'utf8',
    );
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(version).toContain(`VERSION = "${manifest.version}"`);
  });

  it('has names of Python that lead back to those of the document', () => {
    expect(['externalUserId', 'from', 'id', 'p50Ms'].map(toSnakeCase)).toEqual([
      'external_user_id',
      'from_',
      'id',
      'p50_ms',
    ]);
    expect(() => toSnakeCase('external_user')).toThrow('has no name in Python');
  });
});
