import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const DIRECTORY = join(import.meta.dirname, '../../docs/runbooks');

/** A page of the runbooks. */
export interface RunbookPage {
  name: string;
  text: string;
  /** Its blocks of commands that can run on a local run, in order. */
  local: string[];
  /** Its blocks of commands that need AWS. */
  aws: string[];
  /** Anchors of its headings, as GitHub makes them. */
  anchors: string[];
}

export function runbookPages(): RunbookPage[] {
  return readdirSync(DIRECTORY)
    .filter((name) => name.endsWith('.md'))
    .map((name) => {
      const text = readFileSync(join(DIRECTORY, name), 'utf8');
      return {
        name,
        text,
        local: blocks(text, 'sh local'),
        aws: blocks(text, 'sh aws'),
        anchors: [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => anchorOf(title)),
      };
    });
}

const blocks = (text: string, kind: string): string[] =>
  [...text.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)]
    .filter(([, info]) => info === kind)
    .map(([, , block = '']) => block);

const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
