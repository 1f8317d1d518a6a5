import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a benchmark adds to the program of functions. */
export interface NodeAdditions {
  /** Module that is loaded before the function. */
  preload: string;
  /** Variables that its code reads. */
  environment: Readonly<Record<string, string>>;
}

/**
 * Writes a program that starts Node.js as Lambda does: without the local run's options that save memory, and
 * without its permission check, which reads each request of the SDK again. What remains is the function,
 * AWS's runtime client and the size of the heap.
 * @returns its file
 */
export function lambdaNode(directory: string, additions?: NodeAdditions): string {
  const file = join(directory, 'lambda-node');
  const variables = Object.entries(additions?.environment ?? {});
  const exported = variables.map(([name, value]) => `export ${name}='${value}'\n`).join('');
  const options = additions === undefined ? '' : `--import '${additions.preload}'`;
  writeFileSync(file, `${SCRIPT}${exported}exec '${process.execPath}' ${options} "$@"\n`, { mode: 0o755 });
  return file;
}

const SCRIPT = `#!/bin/sh
unset LOCAL_RUN_AUTHORIZATION
for argument do
  shift
  case "$argument" in --max-semi-space-size=*|--optimize-for-size) ;; *) set -- "$@" "$argument" ;; esac
done
`;
