import type { ESTree } from 'vite';

/*
 * Possible values of an expression, as far as permissions depend on them: environment variables that name
 * resources, and functions that may be called. Everything else is unknown.
 */

export type Value = Unknown | Environment | Variable | Text | Shape | List | Closure | External | Union;

interface Unknown {
  kind: 'unknown';
}
/** Result of `readEnvironment`: each property is the variable of its name. */
interface Environment {
  kind: 'environment';
}
/** An environment variable's value. */
interface Variable {
  kind: 'variable';
  name: string;
}
interface Text {
  kind: 'text';
  text: string;
}
/** An object; absent properties have the value of `rest`. */
export interface Shape {
  kind: 'shape';
  properties: Map<string, Value>;
  rest: Value | undefined;
}
/** An array, a set or the like, as any of its elements. */
interface List {
  kind: 'list';
  element: Value;
}
export type FunctionNode = ESTree.Function | ESTree.ArrowFunctionExpression;
export interface Closure {
  kind: 'closure';
  node: FunctionNode;
  scope: Scope;
}
/** An export of a package. */
interface External {
  kind: 'external';
  from: string;
  name: string;
}
interface Union {
  kind: 'union';
  of: Exclude<Value, Union>[];
}

export const UNKNOWN: Value = { kind: 'unknown' };
export const ENVIRONMENT: Value = { kind: 'environment' };
/** No value, or undefined: the neutral element of `either`. */
export const NOTHING: Value = { kind: 'union', of: [] };
export const listOf = (element: Value): Value => ({ kind: 'list', element });
export const shapeOf = (properties: Iterable<[string, Value]>, rest?: Value): Shape => ({
  kind: 'shape',
  properties: new Map(properties),
  rest,
});

/** Members of the value, without nested unions. */
export const alternativesOf = (value: Value): Exclude<Value, Union>[] =>
  value.kind === 'union' ? value.of : [value];

export function either(...values: Value[]): Value {
  const distinct = new Map(values.flatMap(alternativesOf).map((value) => [keyOf(value), value]));
  const [only] = distinct.values();
  return distinct.size === 1 && only !== undefined ? only : { kind: 'union', of: [...distinct.values()] };
}

/** Any element of an iterable. */
export function elementOf(value: Value): Value {
  return either(...alternativesOf(value).map((one) => (one.kind === 'list' ? one.element : UNKNOWN)));
}

/** Key of a shape, with `$` before a variable's name; undefined when it is unknown. */
export function writtenAs(key: Value): string | undefined {
  if (key.kind === 'text') return key.text;
  return key.kind === 'variable' ? `$${key.name}` : undefined;
}

/** The inverse of `writtenAs`. */
export const readKey = (written: string): Value =>
  written.startsWith('$') ? { kind: 'variable', name: written.slice(1) } : { kind: 'text', text: written };

/** A value's property or element. */
export function partOf(value: Value, key: Value): Value {
  return either(
    ...alternativesOf(value).flatMap((alternative) =>
      alternativesOf(key).map((name): Value => {
        if (alternative.kind === 'environment')
          return name.kind === 'text' ? { kind: 'variable', name: name.text } : UNKNOWN;
        if (alternative.kind === 'list')
          return name.kind === 'text' && !/^\d+$/.test(name.text) ? UNKNOWN : alternative.element;
        if (alternative.kind === 'external' && name.kind === 'text')
          return alternative.name === '*' ? { ...alternative, name: name.text } : UNKNOWN;
        if (alternative.kind !== 'shape') return UNKNOWN;
        const written = writtenAs(name);
        if (written === undefined)
          return either(...alternative.properties.values(), alternative.rest ?? NOTHING);
        const own = alternative.properties.get(written);
        if (own !== undefined) return own;
        // An absent property is undefined: it names no resource and cannot be called.
        return either(
          ...alternativesOf(alternative.rest ?? NOTHING).map((rest) =>
            rest.kind === 'environment' ? partOf(rest, name) : rest,
          ),
        );
      }),
    ),
  );
}

export const hasPart = ({ properties, rest }: Shape, key: Value): boolean =>
  properties.has(writtenAs(key) ?? '') || rest !== undefined;

/** Variables of a function, block or module, with the enclosing scope. */
export class Scope {
  static #count = 0;
  readonly id = Scope.#count++;
  readonly names = new Map<string, Value>();
  readonly outer: Scope | undefined;
  readonly file: string;

  constructor(file: string, outer?: Scope) {
    this.file = file;
    this.outer = outer;
  }

  find(name: string): Value | undefined {
    return this.names.get(name) ?? this.outer?.find(name);
  }

  /** A variable that is assigned again may have either value. */
  assign(name: string, value: Value): void {
    if (this.names.has(name) || this.outer === undefined)
      this.names.set(name, either(this.names.get(name) ?? NOTHING, value));
    else this.outer.assign(name, value);
  }
}

const keys = new WeakMap<object, string>();

/** Equal for equivalent values, so that a call with the same arguments is evaluated once. */
export function keyOf(value: Value): string {
  const cached = keys.get(value);
  if (cached !== undefined) return cached;
  const key = describe(value);
  keys.set(value, key);
  return key;
}

function describe(value: Value): string {
  switch (value.kind) {
    case 'unknown':
      return '?';
    case 'environment':
      return '$';
    case 'variable':
      return `$${value.name}`;
    case 'text':
      return JSON.stringify(value.text);
    case 'list':
      return `[${keyOf(value.element)}]`;
    case 'closure':
      return `f${value.scope.id}:${value.node.start}`;
    case 'external':
      return `${value.from}#${value.name}`;
    case 'shape': {
      const properties = [...value.properties].map(([name, of]) => `${name}:${keyOf(of)}`).sort();
      return `{${[...properties, value.rest === undefined ? '' : `*:${keyOf(value.rest)}`].join()}}`;
    }
    case 'union':
      return `(${value.of.map(keyOf).sort().join('|')})`;
  }
}
