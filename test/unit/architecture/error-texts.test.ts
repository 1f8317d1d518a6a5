import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sourceOf } from './source.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** A file without such a line is not parsed, because parsing takes long. */
const CANDIDATE =
  /\b(?:lastError|message|error)\b.*\.(?:test|exec|match|search|includes|(?:starts|ends)With)|\.(?:test|exec|match|search|includes|(?:starts|ends)With)[^)]*\b(?:lastError|message|error)\b|[:=(,] *\/[^/*\n].*[a-z]{2,} [a-z]{2,}/;
/** The client's own text about a missing response, which has no code. */
const OWN_TEXT = 'packages/cli/src/report.ts, ';
const CLIENTS = ['dashboard/src', 'packages/cli/src', 'packages/sdk/src', 'lib/local-run', 'lib/operate'];

const METHODS = ['test', 'exec', 'match', 'matchAll', 'search', 'includes', 'startsWith', 'endsWith'];
/** Texts of the API that are for users and may change. */
const TEXTS = ['message', 'lastError', 'error'];

interface Expression {
  type?: string;
  name?: string;
  property?: Expression;
  expression?: Expression;
  callee?: Expression;
  object?: Expression;
  left?: Expression;
  arguments?: Expression[];
  regex?: { pattern: string };
}

/** The name of a variable or property. */
function nameOf(node: Expression | undefined): string {
  if (node?.type === 'Identifier') return node.name ?? '';
  if (node?.type === 'MemberExpression') return nameOf(node.property);
  if (node?.type === 'LogicalExpression') return nameOf(node.left);
  return node?.expression ? nameOf(node.expression) : '';
}

/** Two English words in a regular expression: it is for sentences. */
const SENTENCE = /(?:^|[\^( ])[a-z]{2,} [a-z]{2,}/;

/** Where code decides by a text that may change, instead of its code. @returns lines and reasons */
function findTextMatches(path: string, text: string): string[] {
  return sourceOf(path, text).places.flatMap(({ node }) => {
    const { type, callee, regex, arguments: args = [] } = node as Expression;
    const line = text.slice(0, node.start).split('\n').length;
    if (type === 'Literal' && regex !== undefined && SENTENCE.test(regex.pattern))
      return [`line ${line}: matches a sentence`];
    if (type !== 'CallExpression' || callee?.type !== 'MemberExpression') return [];
    if (!METHODS.includes(nameOf(callee.property))) return [];
    const matched = [callee.object, ...args].map(nameOf).find((name) => TEXTS.includes(name));
    return matched === undefined ? [] : [`line ${line}: matches ${matched}`];
  });
}

describe('the clients', () => {
  it('decide by codes, never by texts of errors, which may change', () => {
    const paths = CLIENTS.flatMap((directory) =>
      globSync(`${directory}/**/*.{ts,tsx}`, { cwd: ROOT }).filter((path) => !path.includes('.gen.')),
    );
    expect(paths.length).toBeGreaterThan(300);
    const faults = paths.flatMap((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8');
      return CANDIDATE.test(text) ? findTextMatches(path, text).map((match) => `${path}, ${match}`) : [];
    });
    expect(faults.filter((match) => !match.startsWith(OWN_TEXT))).toEqual([]);
  });
});

describe('the search for matches of texts', () => {
  it.each([
    'const REFUSED = /^connection refused$/;',
    'const LATE = { late: /timed out after (\\d+) s/ };',
    "if (lastError.includes('refused')) retry();",
    "if (delivery.lastError?.startsWith('TLS')) warn();",
    'const found = sentence.exec(message);',
    "(fault.message ?? '').match(limit);",
  ])('finds %s', (source) => {
    expect(findTextMatches('a.ts', `const a = 1;\n${source}`)).toEqual([
      expect.stringMatching(/^line 2: matches/),
    ]);
  });

  it.each(['codes.includes(errorCode);', '/^\\d+ [a-z]$/.test(time);', "path.startsWith('/events/');"])(
    'ignores %s',
    (source) => {
      expect(findTextMatches('a.ts', source)).toEqual([]);
    },
  );
});
