import { isDeepStrictEqual } from 'node:util';
import { sizeOf } from './sizes.ts';

/** A row, or a part of one, as the document client has it. */
export type Row = Record<string, unknown>;

/** The placeholders of names and values in an expression. */
export interface Placeholders {
  names: Readonly<Record<string, string>>;
  values: Readonly<Record<string, unknown>>;
}

type Evaluate<T> = (row: Row, given: Placeholders) => T;
type Condition = Evaluate<boolean>;
/** Returns the row after the update. */
type Update = Evaluate<Row>;

const TOKEN = /\s*([#:]?[A-Za-z_][\w-]*|<=|>=|<>|\d+|[=<>(),.+\-[\]])/y;

/** DynamoDB's functions, and how they are computed. */
const FUNCTIONS: Readonly<Record<string, (args: readonly unknown[]) => unknown>> = {
  attribute_exists: ([value]) => value !== undefined,
  attribute_not_exists: ([value]) => value === undefined,
  begins_with: ([value, prefix]) => typeof value === 'string' && value.startsWith(String(prefix)),
  contains: ([value, part]) =>
    typeof value === 'string'
      ? value.includes(String(part))
      : value instanceof Set
        ? value.has(part)
        : Array.isArray(value) && value.some((one) => isSame(one, part)),
  size: ([value]) => (isRow(value) ? Object.keys(value).length : sizeOf(value)),
  if_not_exists: ([value, otherwise]) => value ?? otherwise,
  list_append: ([one, other]) => [...asList(one), ...asList(other)],
};

const COMPARISONS: Readonly<Record<string, (a: unknown, b: unknown) => boolean>> = {
  '=': (a, b) => a !== undefined && isSame(a, b),
  '<>': (a, b) => !isSame(a, b),
  '<': (a, b) => order(a, b) < 0,
  '<=': (a, b) => order(a, b) <= 0,
  '>': (a, b) => order(a, b) > 0,
  '>=': (a, b) => order(a, b) >= 0,
};

/** Tokens of an expression, read one after another. */
function readerOf(text: string) {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const token = TOKEN.exec(text);
    if (token?.[1] === undefined) throw new InvalidRequest(`the expression "${text}" is not understood`);
    tokens.push(token[1]);
  }
  let at = 0;
  const is = (token: string) => tokens[at]?.toUpperCase() === token;
  return {
    get isAtEnd() {
      return at === tokens.length;
    },
    is,
    /** Takes the token if it is this one. */
    takes(token: string): boolean {
      const taken = is(token);
      if (taken) at += 1;
      return taken;
    },
    next(): string {
      const token = tokens[at];
      if (token === undefined) throw new InvalidRequest(`the expression "${text}" ends too early`);
      at += 1;
      return token;
    },
    expect(token: string): void {
      if (!this.takes(token)) throw new InvalidRequest(`"${token}" is missing in the expression "${text}"`);
    },
  };
}
type Reader = ReturnType<typeof readerOf>;

const list = <T>(tokens: Reader, part: (tokens: Reader) => T): T[] => {
  const parts = [part(tokens)];
  while (tokens.takes(',')) parts.push(part(tokens));
  return parts;
};

type Path = readonly string[];

function pathOf(tokens: Reader, first = tokens.next()): Path {
  const path = [first];
  for (;;) {
    if (tokens.takes('.')) path.push(tokens.next());
    else if (tokens.takes('[')) {
      path.push(tokens.next());
      tokens.expect(']');
    } else return path;
  }
}

const named = (path: Path, { names }: Placeholders): string[] => path.map((part) => names[part] ?? part);

const valueAt = (row: Row, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (isHolder(value) ? value[name] : undefined), row);

/** A value, an attribute, or the result of a function. */
function operand(tokens: Reader): Evaluate<unknown> {
  const token = tokens.next();
  if (token.startsWith(':')) return (_, { values }) => values[token];
  const call = FUNCTIONS[token];
  if (call !== undefined && tokens.takes('(')) {
    const parameters = list(tokens, operand);
    tokens.expect(')');
    return (row, given) => call(parameters.map((parameter) => parameter(row, given)));
  }
  const path = pathOf(tokens, token);
  return (row, given) => valueAt(row, named(path, given));
}

function alternatives(tokens: Reader): Condition {
  const parts = [conjunction(tokens)];
  while (tokens.takes('OR')) parts.push(conjunction(tokens));
  return (row, given) => parts.some((part) => part(row, given));
}

function conjunction(tokens: Reader): Condition {
  const parts = [term(tokens)];
  while (tokens.takes('AND')) parts.push(term(tokens));
  return (row, given) => parts.every((part) => part(row, given));
}

function term(tokens: Reader): Condition {
  if (tokens.takes('NOT')) {
    const negated = term(tokens);
    return (row, given) => !negated(row, given);
  }
  if (tokens.takes('(')) {
    const inner = alternatives(tokens);
    tokens.expect(')');
    return inner;
  }
  const left = operand(tokens);
  if (tokens.takes('BETWEEN')) {
    const from = operand(tokens);
    tokens.expect('AND');
    const to = operand(tokens);
    return (row, given) => {
      const value = left(row, given);
      return order(value, from(row, given)) >= 0 && order(value, to(row, given)) <= 0;
    };
  }
  if (tokens.takes('IN')) {
    tokens.expect('(');
    const among = list(tokens, operand);
    tokens.expect(')');
    return (row, given) => {
      const value = left(row, given);
      return value !== undefined && among.some((one) => isSame(value, one(row, given)));
    };
  }
  for (const [sign, holds] of Object.entries(COMPARISONS))
    if (tokens.takes(sign)) {
      const right = operand(tokens);
      return (row, given) => holds(left(row, given), right(row, given));
    }
  return (row, given) => left(row, given) === true;
}

type Deed = (row: Row, before: Row, given: Placeholders) => void;

function assignment(tokens: Reader): Deed {
  const path = pathOf(tokens);
  tokens.expect('=');
  let value = operand(tokens);
  for (const [sign, factor] of [['+', 1] as const, ['-', -1] as const])
    if (tokens.takes(sign)) {
      const [left, right] = [value, operand(tokens)];
      value = (row, given) => {
        const [first, second] = [left(row, given), right(row, given)];
        if (typeof first !== 'number' || typeof second !== 'number') throw new InvalidRequest(TYPE_MISMATCH);
        return first + factor * second;
      };
    }
  return (row, before, given) => put(row, named(path, given), value(before, given));
}

function removal(tokens: Reader): Deed {
  const path = pathOf(tokens);
  return (row, _, given) => put(row, named(path, given), undefined);
}

function increase(tokens: Reader): Deed {
  const path = pathOf(tokens);
  const by = operand(tokens);
  return (row, before, given) => {
    const place = named(path, given);
    const [value, added] = [valueAt(before, place), by(before, given)];
    if (added instanceof Set) return put(row, place, new Set([...asSet(value), ...added]));
    if (value !== undefined && typeof value !== 'number') throw new InvalidRequest(TYPE_MISMATCH);
    put(row, place, (value ?? 0) + Number(added));
  };
}

function deletion(tokens: Reader): Deed {
  const path = pathOf(tokens);
  const members = operand(tokens);
  return (row, before, given) => {
    const place = named(path, given);
    const removed = asSet(members(before, given));
    const left = [...asSet(valueAt(before, place))].filter((one) => !removed.has(one));
    put(row, place, left.length === 0 ? undefined : new Set(left));
  };
}

const SECTIONS = { SET: assignment, REMOVE: removal, ADD: increase, DELETE: deletion } as const;
const TYPE_MISMATCH = 'An operand in the update expression has an incorrect data type';

/** Parsed once for each text: a run has the same thousands of times. */
function remembered<T>(compile: (text: string) => T): (text: string) => T {
  const compiled = new Map<string, T>();
  return (text) => {
    const cached = compiled.get(text);
    if (cached !== undefined) return cached;
    const made = compile(text);
    compiled.set(text, made);
    return made;
  };
}

/** @throws Error when it is invalid, or uses syntax that this double does not know */
export const conditionOf = remembered((text): Condition => {
  const tokens = readerOf(text);
  const condition = alternatives(tokens);
  if (!tokens.isAtEnd) throw new InvalidRequest(`the condition "${text}" goes on with "${tokens.next()}"`);
  return condition;
});

/** @throws Error when it is invalid, or uses syntax that this double does not know */
export const updateOf = remembered((text): Update => {
  const tokens = readerOf(text);
  const deeds: Deed[] = [];
  while (!tokens.isAtEnd) {
    const section = tokens.next().toUpperCase();
    if (!(section in SECTIONS)) throw new InvalidRequest(`the update "${text}" has "${section}"`);
    deeds.push(...list(tokens, SECTIONS[section as keyof typeof SECTIONS]));
  }
  return (before, given) => {
    const row = { ...before };
    for (const deed of deeds) deed(row, before, given);
    return row;
  };
});

/** The attributes of a projection, which may be parts of attributes. */
export const projectionOf = remembered((text): ((row: Row, given: Placeholders) => Row) => {
  const tokens = readerOf(text);
  const paths = list(tokens, pathOf);
  return (row, given) => {
    const part: Row = {};
    for (const path of paths) {
      const place = named(path, given);
      const value = valueAt(row, place);
      if (value !== undefined)
        place.reduce((holder, name, index) => {
          const next = index === place.length - 1 ? value : (holder[name] ?? {});
          holder[name] = next;
          return next as Row;
        }, part);
    }
    return part;
  };
});

/** The placeholder of a partition key's value in a key condition. */
export function partitionIn(text: string, name: string, { names, values }: Placeholders): unknown {
  const [, placeholder = ''] =
    [...text.matchAll(EQUATION)].find(([, left = '']) => (names[left] ?? left) === name)?.slice(1) ?? [];
  return values[placeholder];
}
const EQUATION = /([#\w]+)\s*=\s*(:\w+)/g;

/** A request that DynamoDB refuses. */
export class InvalidRequest extends Error {
  override name = 'ValidationException';
}

/** Copies what holds the value, because rows are never changed but replaced. */
function put(row: Row, [name = '', ...rest]: readonly string[], value: unknown): void {
  const next = rest.length === 0 ? value : copied(row[name]);
  if (rest.length > 0) put(next as Row, rest, value);
  if (next !== undefined) row[name] = next;
  else if (Array.isArray(row)) row.splice(Number(name), 1);
  else delete row[name];
}

function copied(holder: unknown): unknown {
  if (!isHolder(holder))
    throw new InvalidRequest('The document path provided in the update expression is invalid for update');
  return Array.isArray(holder) ? [...holder] : { ...holder };
}

const isHolder = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !(value instanceof Set) && !(value instanceof Uint8Array);
const isRow = (value: unknown): value is Row => isHolder(value) && !Array.isArray(value);

const asSet = (value: unknown): Set<unknown> => (value instanceof Set ? value : new Set());

function asList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new InvalidRequest(TYPE_MISMATCH);
  return value;
}

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && isDeepStrictEqual(a, b));

/** Compares two strings or two numbers; false for anything else. */
function order(a: unknown, b: unknown): number {
  if (typeof a !== typeof b || (typeof a !== 'string' && typeof a !== 'number')) return Number.NaN;
  if (a === b) return 0;
  return (a as string) < (b as string) ? -1 : 1;
}
