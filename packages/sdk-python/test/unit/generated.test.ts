import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listOperations, ROOT, readDocument } from '../../bin/api-document.ts';
import { generatedFiles } from '../../bin/generated-files.ts';
import { toSnakeCase } from '../../bin/names.ts';

const files = generatedFiles();

describe('the Python client', () => {
  it.each(Object.entries(files))(
    'is written from the document: npm run generate -- python: %s',
    (file, text) => {
      expect(readFileSync(join(ROOT, file), 'utf8')).toBe(text);
    },
  );

  it('has a method for every operation of the document', () => {
    const rows = files['docs/reference/python-client.md']?.matchAll(/^\| `(\w+)` \| `(\S+ \S+)` \|/gm) ?? [];
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
