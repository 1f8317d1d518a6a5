import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes a program that starts Node.js as Lambda does: without the local run's options that save memory, and
 * without its permission check, which reads each request of the SDK again. What remains is the function,
 * AWS's runtime client and the size of the heap.
 * @returns its file
 */
export function lambdaNode(directory: string): string {
  const file = join(directory, 'lambda-node');
  writeFileSync(file, SCRIPT, { mode: 0o755 });
  return file;
}

const SCRIPT = `#!/bin/sh
unset LOCAL_RUN_AUTHORIZATION
for argument do
  shift
  case "$argument" in --max-semi-space-size=*|--optimize-for-size) ;; *) set -- "$@" "$argument" ;; esac
done
exec '${process.execPath}' "$@"
`;
