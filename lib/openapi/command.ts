import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commandLine } from 'terminal/command-line.ts';
import { currentDocument } from './current.ts';
import { eventTypeList } from './events.ts';
import { jsonText } from './json-text.ts';
import { errorsPage, eventsPage, fieldsPage } from './reference-pages.ts';
import { routesPage } from './routes-page.ts';

const DIRECTORY = join(import.meta.dirname, '../../docs');
const CURRENT = 'openapi/v1.json';
const EVENT_TYPES = 'openapi/event-types.json';
/** Pages for readers of the repository. */
const PAGES = {
  'reference/routes.md': routesPage,
  'reference/errors.md': errorsPage,
  'reference/events.md': eventsPage,
  'reference/fields.md': fieldsPage,
} as const;

/** Directory and output of the command. */
export interface CommandEnvironment {
  directory: string;
  out: (text: string) => void;
  err: (text: string) => void;
}

const HERE: CommandEnvironment = {
  directory: DIRECTORY,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
};

function onDisk(directory: string, name: string): string | undefined {
  const file = join(directory, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** The present document as it is on disk: the same text for the same routes. */
export const documentText = (): string => jsonText(currentDocument());

/**
 * `npm run generate -- openapi`. Ends the process for `--help`, and for wrong arguments. @returns the exit
 * code
 */
export function openApiCommand(
  args: readonly string[],
  { directory, out, err }: CommandEnvironment = HERE,
): number {
  const options = commandLine(
    'npm run generate -- openapi',
    `Writes to docs: ${CURRENT} (the OpenAPI document), ${EVENT_TYPES} (event types for the dashboard and conversations listen), and the pages ${Object.keys(PAGES).join(', ')}.`,
  )
    .option('--check', 'write nothing; fail when a file is not what would be written')
    .parse(args, { from: 'user' })
    .opts();
  const pages = Object.entries(PAGES).map(([name, page]) => [name, page()]);
  const files: Record<string, string> = {
    [CURRENT]: documentText(),
    [EVENT_TYPES]: jsonText(eventTypeList()),
    ...Object.fromEntries(pages),
  };
  if (options.check) {
    const stale = Object.entries(files)
      .filter(([name, content]) => onDisk(directory, name) !== content)
      .map(([name]) => name);
    if (stale.length === 0) out(`${Object.keys(files).join(', ')} are up to date.\n`);
    else err(`Stale: ${stale.join(', ')}. Write them anew with: npm run generate -- openapi\n`);
    return stale.length === 0 ? 0 : 1;
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  out(`Wrote ${Object.keys(files).join(', ')}.\n`);
  return 0;
}
