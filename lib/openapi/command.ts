import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { currentDocument } from './current.ts';

const ROOT = join(import.meta.dirname, '../..');
const DIRECTORY = join(ROOT, 'docs/openapi');
export const CURRENT = join(DIRECTORY, 'v1.json');
export const RELEASED = join(DIRECTORY, 'v1.released.json');

const HELP = `Usage: npm run openapi [-- OPTION]

Writes docs/openapi/v1.json, the OpenAPI document of the API, from the route table.

  --check     write nothing; fail when the file is not what would be written
  --release   write it, and also docs/openapi/v1.released.json: what later documents must stay compatible with
  --help      show this
`;

/** The document as it is on disk: the same text for the same routes. */
export const documentText = (): string => `${JSON.stringify(currentDocument(), null, 2)}\n`;

/** `npm run openapi`. @returns the exit code */
export function openApiCommand(args: readonly string[]): number {
  const options = read(args);
  if (options === undefined) return 2;
  if (options.help) return say(HELP, 0);
  const text = documentText();
  if (options.check) {
    const fresh = existsSync(CURRENT) && readFileSync(CURRENT, 'utf8') === text;
    return fresh
      ? say(`${shown(CURRENT)} is up to date.\n`, 0)
      : say(`${shown(CURRENT)} is stale. Write it anew with: npm run openapi\n`, 1);
  }
  mkdirSync(DIRECTORY, { recursive: true });
  writeFileSync(CURRENT, text);
  if (options.release) copyFileSync(CURRENT, RELEASED);
  return say(`Wrote ${[CURRENT, ...(options.release ? [RELEASED] : [])].map(shown).join(' and ')}.\n`, 0);
}

function read(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { check: { type: 'boolean' }, release: { type: 'boolean' }, help: { type: 'boolean' } },
    }).values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    return undefined;
  }
}

const shown = (file: string): string => relative(ROOT, file);

function say(text: string, code: number): number {
  (code === 0 ? process.stdout : process.stderr).write(text);
  return code;
}
