import { stripVTControlCharacters } from 'node:util';

const WORDS = /\S+/g;
/** An option with its value, a file with its `>`, or a word. */
const ARGUMENTS = /(?:(?:--[\w-]+|[<>]) (?!-))?(?:'[^']*'|"[^"]*"|[^\s'"])+/g;

/** Wraps what commander leaves as it is: the usage, and texts behind the options. */
export const wrapHelp = (help: string, columns: number): string =>
  help
    .replace(/(?<=^\S.*)\n(?=\S)/gm, ' ')
    .split('\n')
    .map((line) => wrapLine(line, columns))
    .join('\n');

/** `  TERM   description` goes on below the description; `  command` can be pasted as it is shown. */
function wrapLine(line: string, columns: number): string {
  const fits = (text: string) => stripVTControlCharacters(text).length <= columns;
  if (fits(line)) return line;
  const [term] = /^ +\S+(?:, \S+)* {2,}/.exec(line) ?? [];
  const isCommand = term === undefined && line.startsWith('  ');
  const end = isCommand ? ' \\' : '';
  const indent = ' '.repeat(isCommand ? 4 : (term?.length ?? 0));
  const start = term ?? (isCommand ? '  ' : '');
  const [first = '', ...words] = line.slice(start.length).match(isCommand ? ARGUMENTS : WORDS) ?? [];
  const lines: string[] = [];
  let last = `${start}${first}`;
  for (const word of words) {
    if (fits(`${last} ${word}${end}`)) last += ` ${word}`;
    else {
      lines.push(`${last}${end}`);
      last = `${indent}${word}`;
    }
  }
  return [...lines, last].join('\n');
}
