import { sourceOf } from './source.ts';

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
export function findTextMatches(path: string, text: string): string[] {
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
