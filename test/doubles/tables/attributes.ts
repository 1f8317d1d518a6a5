import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Row } from './expressions.ts';
import type { BatchWrite, Input, Keys, Write } from './input.ts';

/*
 * Rows as requests and answers have them. The simulation converts millions, for which the SDK's own functions
 * take too long.
 */

type Attributes = Record<string, AttributeValue>;

function toValue(value: unknown): AttributeValue {
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'number':
      return { N: String(value) };
    case 'boolean':
      return { BOOL: value };
  }
  if (value === null) return { NULL: true };
  if (value instanceof Uint8Array) return { B: value };
  if (Array.isArray(value)) return { L: value.map(toValue) };
  return { M: toAttributes(value as Row) };
}

export function toAttributes(row: Row): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(row)) if (value !== undefined) attributes[name] = toValue(value);
  return attributes;
}

function fromValue(value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.NULL !== undefined) return null;
  if (value.L !== undefined) return value.L.map(fromValue);
  if (value.M !== undefined) return fromAttributes(value.M);
  if (value.B !== undefined) return value.B;
  throw new TypeError(`${Object.keys(value)} is not known to this double`);
}

function fromAttributes(attributes: Attributes): Row {
  const row: Row = {};
  for (const name in attributes) row[name] = fromValue(attributes[name] as AttributeValue);
  return row;
}

type Convert = (row: never) => unknown;

function convert<T extends object>(value: T, names: readonly (keyof T)[], form: Convert): T {
  const converted = { ...value };
  for (const name of names)
    if (converted[name] !== undefined) converted[name] = form(converted[name] as never) as T[typeof name];
  return converted;
}

const fromRequest = <T extends Write>(write: T): T =>
  convert(write, ['Key', 'Item', 'ExpressionAttributeValues'], fromAttributes);

const convertKeys = (request: Keys, form: Convert): Keys => ({
  ...request,
  Keys: request.Keys?.map((key) => form(key as never) as Row),
});

const fromBatchWrite = ({ DeleteRequest, PutRequest }: BatchWrite): BatchWrite => ({
  ...(DeleteRequest && { DeleteRequest: fromRequest(DeleteRequest) }),
  ...(PutRequest && { PutRequest: fromRequest(PutRequest) }),
});

/** The input of a command of the plain client, with rows as JavaScript has them. */
export function fromCommand(given: Input): Input {
  const input = convert(fromRequest(given), ['ExclusiveStartKey'], fromAttributes);
  if (input.RequestItems !== undefined)
    input.RequestItems = Object.fromEntries(
      Object.entries(input.RequestItems).map(([table, asked]) => [
        table,
        Array.isArray(asked) ? asked.map(fromBatchWrite) : convertKeys(asked as Keys, fromAttributes),
      ]),
    );
  if (input.TransactItems !== undefined)
    input.TransactItems = input.TransactItems.map((item) => mapValues(item, fromRequest));
  return input;
}

interface Answer {
  Item?: Row;
  Items?: Row[];
  Attributes?: Row;
  LastEvaluatedKey?: Row;
  Responses?: Record<string, Row[]>;
  UnprocessedKeys?: Record<string, Keys>;
}

/** An answer as the plain client gives it. */
export function toAnswer(given: Answer): object {
  const answer = convert(given, ['Item', 'Attributes', 'LastEvaluatedKey'], toAttributes);
  const { Items, Responses, UnprocessedKeys } = answer;
  return {
    ...answer,
    ...(Items && { Items: Items.map(toAttributes) }),
    ...(Responses && { Responses: mapValues(Responses, (rows) => rows.map(toAttributes)) }),
    ...(UnprocessedKeys && {
      UnprocessedKeys: mapValues(UnprocessedKeys, (keys) => convertKeys(keys, toAttributes)),
    }),
  };
}

const mapValues = <T, U>(object: Record<string, T>, form: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, form(value)]));
