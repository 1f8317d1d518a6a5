import { join } from 'node:path';
import type { ESTree } from 'vite';
import { entryPoints } from '../bundle.ts';
import { deriveAccess } from './derive.ts';
import type { Access } from './resource.ts';
import { parseFile } from './syntax.ts';

const ROOT = join(import.meta.dirname, '../../..');

/**
 * What the code of each function may ask of AWS, by the function's name.
 * @param parse as it is read from the disk; a test gives another
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

/** The text of access.json: a line for each resource, so that a change of a grant is a change of a line. */
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
