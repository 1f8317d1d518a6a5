import { LocalRunError } from '../errors.ts';

export type Filter = (event: unknown) => boolean;

type Rule = (value: unknown) => boolean;

/**
 * Compiles the `FilterCriteria` of an event source mapping: an event passes if any pattern matches, or if
 * there are none. A pattern's lists hold alternatives for a value.
 * https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html
 * @throws LocalRunError on an unsupported comparison
 */
export function compileFilters(patterns: readonly string[]): Filter {
  if (patterns.length === 0) return () => true;
  const matchers = patterns.map((pattern) => compilePattern(JSON.parse(pattern)));
  return (event) => matchers.some((matches) => matches(event));
}

function compilePattern(pattern: unknown): Rule {
  if (!isObject(pattern)) throw new LocalRunError(`Not an event filter pattern: ${JSON.stringify(pattern)}`);
  const keys = Object.entries(pattern).map(([key, condition]) => ({
    key,
    matches: compileCondition(key, condition),
  }));
  return (event) => keys.every(({ key, matches }) => matches(isObject(event) ? event[key] : undefined));
}

function compileCondition(key: string, condition: unknown): Rule {
  if (key === '$or' || !Array.isArray(condition)) {
    if (key !== '$or' && isObject(condition)) return compilePattern(condition);
    throw new LocalRunError(
      `Event filter not supported by the local run: ${key} ${JSON.stringify(condition)}`,
    );
  }
  const alternatives = condition.map(compileAlternative);
  return (value) => alternatives.some((matches) => toElements(value).some(matches));
}

/** A list in the event matches if one of its elements does. */
function toElements(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

function compileAlternative(alternative: unknown): Rule {
  if (!isObject(alternative)) return (value) => value === alternative;
  const [[operator, operand] = [], ...others] = Object.entries(alternative);
  const compile = operator === undefined || others.length > 0 ? undefined : OPERATORS[operator];
  if (!compile)
    throw new LocalRunError(`Event filter not supported by the local run: ${JSON.stringify(alternative)}`);
  return compile(operand);
}

const OPERATORS: Record<string, (operand: unknown) => Rule> = {
  exists: (wanted) => (value) => (value !== undefined) === wanted,
  prefix: (prefix) => (value) => typeof value === 'string' && value.startsWith(String(prefix)),
  suffix: (suffix) => (value) => typeof value === 'string' && value.endsWith(String(suffix)),
  'equals-ignore-case': (text) => (value) =>
    typeof value === 'string' && value.toLowerCase() === String(text).toLowerCase(),
  'anything-but': (operand) => {
    const forbidden = (Array.isArray(operand) ? operand : [operand]).map(compileAlternative);
    return (value) => value !== undefined && !forbidden.some((matches) => matches(value));
  },
  numeric: (operand) => compileNumeric(operand),
};

const COMPARISONS: Record<string, (value: number, limit: number) => boolean> = {
  '=': (value, limit) => value === limit,
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
};

/** `["=", 1]` or a range such as `[">", 0, "<=", 10]`. DynamoDB's numbers are text but compare as numbers. */
function compileNumeric(operand: unknown): Rule {
  const parts = Array.isArray(operand) ? operand : [];
  const rules: ((value: number) => boolean)[] = [];
  for (let i = 0; i < parts.length; i += 2) {
    const compare = COMPARISONS[String(parts[i])];
    const limit: unknown = parts[i + 1];
    if (!compare || typeof limit !== 'number') break;
    rules.push((value) => compare(value, limit));
  }
  if (rules.length === 0 || rules.length * 2 !== parts.length) {
    throw new LocalRunError(`Not a numeric event filter: ${JSON.stringify(operand)}`);
  }
  return (value) => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof number === 'number' && rules.every((holds) => holds(number));
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
