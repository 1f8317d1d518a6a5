import { LocalRunError } from '../errors.ts';

/** `$context` variables, by the name after `$context.`. */
export type Context = Readonly<Record<string, string>>;

/** Variables that templates and headers may use. */
const VARIABLES = new Set([
  'accountId',
  'apiId',
  'domainName',
  'error.message',
  'error.messageString',
  'error.responseType',
  'extendedRequestId',
  'httpMethod',
  'identity.sourceIp',
  'identity.userAgent',
  'path',
  'protocol',
  'requestId',
  'requestTime',
  'requestTimeEpoch',
  'resourcePath',
  'stage',
]);

export type Rendered = (context: Context) => string;

/**
 * Compiles a mapping template of plain text and `$context.…`.
 * @param where names the template in messages
 * @throws LocalRunError for other variables and for template directives
 */
export function compileTemplate(template: string, where: string): Rendered {
  const directive = /^\s*#.*$/m.exec(template);
  if (directive)
    throw new LocalRunError(
      `${where}: template directive not supported by the local run: ${directive[0].trim()}`,
    );
  const parts = template.split(/(\$[\w.]*\w|\$\S?)/);
  const compiled = parts.map((part) => (part.startsWith('$') ? variable(part.slice(1), where) : () => part));
  return (context) => compiled.map((render) => render(context)).join('');
}

/**
 * Compiles a header mapping: a quoted constant or a context variable.
 * @throws LocalRunError for any other expression
 */
export function compileParameter(expression: string, where: string): Rendered {
  const [, constant] = /^'(.*)'$/.exec(expression) ?? [];
  if (constant !== undefined) return () => constant;
  return variable(expression, where);
}

function variable(expression: string, where: string): Rendered {
  const name = expression.startsWith('context.') ? expression.slice('context.'.length) : undefined;
  if (name === undefined || !VARIABLES.has(name)) {
    throw new LocalRunError(`${where}: expression not supported by the local run: ${expression}`);
  }
  return (context) => context[name] ?? '';
}
