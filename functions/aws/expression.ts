/**
 * A condition or an update in DynamoDB's expression language, with the values that it names. A word after `#`
 * is the name of an attribute that DynamoDB reserves: `#status = ${'pending'}`.
 */
export class Expression {
  readonly strings: readonly string[];
  readonly parts: readonly unknown[];

  constructor(strings: readonly string[], parts: readonly unknown[]) {
    this.strings = strings;
    this.parts = parts;
  }

  get isEmpty(): boolean {
    const isEmpty = (part: unknown): boolean => part instanceof Expression && part.isEmpty;
    return this.strings.every((text) => text === '') && this.parts.every(isEmpty);
  }
}

/** The name of an attribute that is known at run time only, as a part of an expression. */
class AttributeName {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Tag of an expression. Its parts are values, further expressions, and names of attributes (`attribute`). */
export const expression = (strings: TemplateStringsArray, ...parts: unknown[]): Expression =>
  new Expression(strings, parts);

export const attribute = (name: string): AttributeName => new AttributeName(name);

/** Joins the expressions that are there and not empty: conditions by `AND`, assignments by a comma. */
function join(separator: string, parts: readonly (Expression | undefined)[]): Expression {
  const present = parts.filter((part) => part !== undefined && !part.isEmpty);
  const between = present.slice(1).map(() => separator);
  return new Expression(['', ...between, ''], present);
}

const list = (parts: readonly (Expression | undefined)[]): Expression => join(', ', parts);

/** All conditions must hold. */
export const all = (...conditions: (Expression | undefined)[]): Expression => join(' AND ', conditions);

/** Assigns those values that are defined to attributes: the body of a `SET`. */
export const assign = (values: Readonly<Record<string, unknown>>): Expression =>
  list(
    Object.entries(values).map(([name, value]) =>
      value === undefined ? undefined : expression`${attribute(name)} = ${value}`,
    ),
  );

/** Adds to numbers: the body of an `ADD`. */
export const increase = (by: Readonly<Record<string, number>>): Expression =>
  list(Object.entries(by).map(([name, number]) => expression`${attribute(name)} ${number}`));

export const isOneOf = (name: string, values: readonly unknown[]): Expression =>
  expression`${attribute(name)} IN (${list(values.map((value) => expression`${value}`))})`;

/** The body of a `REMOVE`. */
export const attributes = (names: readonly string[]): Expression =>
  list(names.map((name) => expression`${attribute(name)}`));

/**
 * The attributes still have the values that were read.
 * @param row as it was read
 */
export const unchanged = (row: Readonly<Record<string, unknown>>, names: readonly string[]): Expression =>
  all(
    ...names.map((name) =>
      row[name] === undefined
        ? expression`attribute_not_exists(${attribute(name)})`
        : expression`${attribute(name)} = ${row[name]}`,
    ),
  );

/** Names in the literal texts of expressions, of which there are as many as the code has. */
const WORDS = new Map<string, readonly string[]>();

/** The expressions of one request, whose placeholders must differ. */
export class Placeholders {
  /** Placeholders by their names. */
  readonly #names = new Map<string, string>();
  readonly #values: Record<string, unknown> = {};
  #count = 0;

  /** The text of an expression, with placeholders for its values. */
  text({ strings, parts }: Expression): string {
    let text = this.#nameWords(strings[0] ?? '');
    for (const [index, part] of parts.entries())
      text += `${this.#textOf(part)}${this.#nameWords(strings[index + 1] ?? '')}`;
    return text;
  }

  #textOf(part: unknown): string {
    if (part instanceof Expression) return this.text(part);
    if (part instanceof AttributeName) return this.#name(part.text);
    const placeholder = `:v${this.#count}`;
    this.#count += 1;
    this.#values[placeholder] = part;
    return placeholder;
  }

  #name(name: string): string {
    const placeholder = this.#names.get(name) ?? (/^\w+$/.test(name) ? `#${name}` : `#n${this.#names.size}`);
    this.#names.set(name, placeholder);
    return placeholder;
  }

  #nameWords(text: string): string {
    let words = WORDS.get(text);
    if (words === undefined) {
      words = [...text.matchAll(/#(\w+)/g)].map(([, name = '']) => name);
      WORDS.set(text, words);
    }
    for (const name of words) this.#name(name);
    return text;
  }

  /** The maps that a request has beside its expressions; DynamoDB refuses empty ones. */
  get maps() {
    return {
      ...(this.#names.size > 0 && {
        ExpressionAttributeNames: Object.fromEntries(
          [...this.#names].map(([name, placeholder]) => [placeholder, name]),
        ),
      }),
      ...(this.#count > 0 && { ExpressionAttributeValues: this.#values }),
    };
  }
}
