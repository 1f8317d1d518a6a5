import { join } from 'node:path';
import type { ESTree } from 'vite';
import { entryPoints } from '../bundle.ts';
import { deriveAccess } from './derive.ts';
import type { Access } from './resource.ts';
import { parseFile } from './syntax.ts';

const ROOT = join(import.meta.dirname, '../../..');

/**
 * AWS access of each function's code, by function name.
 * @param parse replaces the disk in tests
 */
export function deriveAll(
  parse: (file: string) => ESTree.Program = parseFile,
  entries: Readonly<Record<string, string>> = entryPoints(),
): Record<string, Access> {
  const programs = new Map<string, ESTree.Program>();
  const parsed = (file: string): ESTree.Program => {
    const program = programs.get(file) ?? parse(file);
    programs.set(file, program);
    return program;
  };
  return Object.fromEntries(
    Object.entries(entries)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, file]) => [name, deriveAccess([join(ROOT, file)], parsed)]),
  );
}

/** Text of access.json: one line per resource, for readable diffs. */
export function writtenOut(access: Readonly<Record<string, Access>>): string {
  const functions = Object.entries(access).map(([name, resources]) => {
    const lines = Object.entries(resources).map(
      ([resource, actions]) =>
        `    ${JSON.stringify(resource)}: ${JSON.stringify(actions).replaceAll(',', ', ')}`,
    );
    return `  ${JSON.stringify(name)}: ${lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n  }`}`;
  });
  return `{\n${functions.join(',\n')}\n}\n`;
}
