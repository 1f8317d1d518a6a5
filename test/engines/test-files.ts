import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Functions by which a test file gets an engine: those of `test/engines.ts` or of the package, or the start
 * of an embedded one.
 */
type Need = 'dynamoDb' | 'sqs' | 'startDynamoDb';

/**
 * The contract test files that import one of these functions, directly or indirectly; paths from the
 * repository's root.
 */
export function contractFilesNeeding(needs: readonly Need[]): string[] {
  const wanted = new RegExp(`import[^;]*\\b(?:${needs.join('|')})\\b[^;]*from`);
  const reaches = new Map<string, boolean>();
  const isUser = (file: string): boolean => {
    const cached = reaches.get(file);
    if (cached !== undefined) return cached;
    // The value until it is known: a cycle adds nothing.
    reaches.set(file, false);
    const source = readFileSync(file, 'utf8');
    const imported = [...source.matchAll(/from '(\.[^']+\.ts)'/g)]
      .map(([, path = '']) => join(dirname(file), path))
      .filter((path) => !relative(ROOT, path).startsWith('packages/aws-local/src'));
    const result = wanted.test(source) || imported.some(isUser);
    reaches.set(file, result);
    return result;
  };
  return globSync('{.,packages/*}/test/contract/**/*.test.ts', { cwd: ROOT })
    .map((path) => join(ROOT, path))
    .filter(isUser)
    .map((path) => relative(ROOT, path))
    .sort();
}
