/*
 * Requests that DynamoDB refuses and an embedded engine may accept, as pure rules over the JSON. Loaded in
 * every sandbox before its function, so no library. Sources: Developer Guide, "Constraints in Amazon
 * DynamoDB", "Item sizes and formats", "Expressions"; API reference of each operation; AWS's own messages.
 */

import { RESERVED_WORDS } from './reserved-words.ts';

/** Key attributes of a table and its indexes. */
export interface TableKeys {
  /** Partition key, then sort key if any. */
  key: readonly string[];
  indexes: readonly { name: string; key: readonly string[] }[];
}

type Json = Readonly<Record<string, unknown>>;
/** `undefined` for an unknown table, which skips the rules that need its keys. */
export type KeysOf = (table: string) => TableKeys | undefined;

const EXPRESSION_BYTES = 4096;
const ITEM_BYTES = 400 * 1024;
const TRANSACTION_BYTES = 4 * 1024 * 1024;
/** Limits on the values of partition and sort keys, in bytes. */
const KEY_BYTES = [2048, 1024];
const BATCH_GET = 100;
const BATCH_WRITE = 25;
const TRANSACTION = 100;
const IN_OPERANDS = 100;

export const EXPRESSIONS = [
  'KeyConditionExpression',
  'ProjectionExpression',
  'FilterExpression',
  'ConditionExpression',
  'UpdateExpression',
] as const;

/**
 * @param operation `PutItem`, or with the service: `DynamoDB_20120810.PutItem`
 * @returns the message of DynamoDB's `ValidationException`; undefined for a valid request
 */
export function refusalByDynamoDb(operation: string, body: unknown, keysOf: KeysOf): string | undefined {
  const rule = RULES[operation.slice(operation.lastIndexOf('.') + 1)];
  return rule?.(object(body), keysOf);
}

type Rule = (body: Json, keysOf: KeysOf) => string | undefined;

const onItem: Rule = (body, keysOf) => {
  const keys = keysOf(String(body.TableName));
  return (
    findExpressionFault(body) ??
    emptySet(body) ??
    keyFault(object(body.Key), keys) ??
    itemFault(body.Item, keys) ??
    updateFault(body, keys)
  );
};

const onQuery: Rule = (body) => {
  if (Number(body.Limit ?? 1) < 1)
    return `1 validation error detected: Value '${body.Limit}' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1`;
  return (
    findExpressionFault(body) ??
    emptySet(body) ??
    keyConditionFault(body) ??
    keyFault(object(body.ExclusiveStartKey))
  );
};

const RULES: Readonly<Record<string, Rule>> = {
  GetItem: onItem,
  PutItem: onItem,
  UpdateItem: onItem,
  DeleteItem: onItem,
  Query: onQuery,
  Scan: onQuery,

  BatchGetItem({ RequestItems }, keysOf) {
    const tables = Object.entries(object(RequestItems)).map(([table, request]) => ({
      table,
      request: object(request),
      keys: list(object(request).Keys),
    }));
    const count = tables.reduce((sum, { keys }) => sum + keys.length, 0);
    if (count > BATCH_GET) return 'Too many items requested for the BatchGetItem call';
    if (tables.length === 0 || tables.some(({ keys }) => keys.length === 0)) return tooFew('requestItems');
    return first(tables, ({ table, request, keys }) =>
      hasDuplicates(keys.map((key) => identity(table, key)))
        ? 'Provided list of item keys contains duplicates'
        : (findExpressionFault(request) ?? first(keys, (key) => keyFault(key, keysOf(table)))),
    );
  },

  BatchWriteItem({ RequestItems }, keysOf) {
    const tables = Object.entries(object(RequestItems)).map(([table, requests]) => ({
      table,
      keys: keysOf(table),
      requests: list(requests),
    }));
    const count = tables.reduce((sum, { requests }) => sum + requests.length, 0);
    if (count > BATCH_WRITE) return 'Too many items requested for the BatchWriteItem call';
    if (tables.length === 0 || tables.some(({ requests }) => requests.length === 0))
      return tooFew('requestItems');
    return first(tables, ({ table, keys, requests }) => {
      const parts = requests.map((request) => ({
        item: object(request.PutRequest).Item,
        key: object(object(request.DeleteRequest).Key),
      }));
      const identities = parts.flatMap(({ item, key }) => identifyItem(table, item, key, keys));
      if (hasDuplicates(identities)) return 'Provided list of item keys contains duplicates';
      return first(
        parts,
        ({ item, key }) => emptySet({ item }) ?? keyFault(key, keys) ?? itemFault(item, keys),
      );
    });
  },

  TransactGetItems: (body, keysOf) => transactionFault(body, keysOf),
  TransactWriteItems: (body, keysOf) => transactionFault(body, keysOf),

  GetShardIterator({ SequenceNumber }) {
    // API reference of DynamoDB Streams: 21 to 40 digits.
    if (SequenceNumber === undefined || /^\d{21,40}$/.test(String(SequenceNumber))) return undefined;
    return `1 validation error detected: Value '${SequenceNumber}' at 'sequenceNumber' failed to satisfy constraint: Member must have length between 21 and 40`;
  },
};

function transactionFault({ TransactItems }: Json, keysOf: KeysOf): string | undefined {
  const parts = list(TransactItems).flatMap((item) => Object.values(item).map(object));
  if (parts.length > TRANSACTION)
    return `1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to ${TRANSACTION}`;
  if (parts.length === 0) return tooFew('transactItems');
  const identities = parts.flatMap(({ TableName, Item, Key }) =>
    identifyItem(String(TableName), Item, object(Key), keysOf(String(TableName))),
  );
  if (hasDuplicates(identities)) return 'Transaction request cannot include multiple operations on one item';
  const bytes = parts.reduce((sum, { Item }) => sum + (Item === undefined ? 0 : itemBytes(object(Item))), 0);
  if (bytes > TRANSACTION_BYTES) return 'Item size in the transaction has exceeded the maximum allowed size';
  return first(parts, (part) => onItem(part, keysOf));
}

/** The fault of a request's expressions, their names and values. */
export function findExpressionFault(request: object): string | undefined {
  const body: Json = { ...request };
  const texts = EXPRESSIONS.flatMap((name) => {
    const text = body[name];
    return typeof text === 'string' ? [{ name, text }] : [];
  });
  for (const { name, text } of texts) {
    if (text.trim() === '') return `Invalid ${name}: The expression can not be empty;`;
    const bytes = Buffer.byteLength(text);
    if (bytes > EXPRESSION_BYTES)
      return `Invalid ${name}: Expression size has exceeded the maximum allowed size; expression size: ${bytes}`;
    for (const [, operands = ''] of text.matchAll(/\bIN\s*\(([^)]*)\)/gi))
      if (operands.split(',').length > IN_OPERANDS)
        return `Invalid ${name}: The IN operator is provided with too many operands; number of operands: ${operands.split(',').length}`;
    const reserved = findReservedWord(text);
    if (reserved !== undefined)
      return `Invalid ${name}: Attribute name is a reserved keyword; reserved keyword: ${reserved}`;
  }
  const all = texts.map(({ text }) => text).join(' ');
  return (
    placeholders(body.ExpressionAttributeNames, 'ExpressionAttributeNames', all, /#[A-Za-z0-9_]+/g, 'name') ??
    placeholders(body.ExpressionAttributeValues, 'ExpressionAttributeValues', all, /:[A-Za-z0-9_]+/g, 'value')
  );
}

/** The first attribute that needs a placeholder: neither a word of the expression language nor a function. */
const findReservedWord = (expression: string): string | undefined =>
  expression
    .match(/(?<![#:\w])[A-Za-z]\w*\b(?!\s*\()/g)
    ?.find((word) => !SYNTAX.test(word) && RESERVED_WORDS.has(word.toUpperCase()));
const SYNTAX = /^(?:ADD|AND|BETWEEN|DELETE|IN|NOT|OR|REMOVE|SET)$/i;

function placeholders(
  given: unknown,
  member: string,
  text: string,
  pattern: RegExp,
  kind: string,
): string | undefined {
  const defined = Object.keys(object(given));
  if (given !== undefined && given !== null) {
    if (text === '') return `${member} can only be specified when using expressions`;
    if (defined.length === 0) return `${member} must not be empty`;
  }
  const used = new Set(text.match(pattern));
  const unknown = [...used].find((name) => !defined.includes(name));
  if (unknown !== undefined)
    return `Invalid expression: An expression attribute ${kind} used in expression is not defined; attribute ${kind}: ${unknown}`;
  const unused = defined.filter((name) => !used.has(name));
  if (unused.length === 0) return undefined;
  return `Value provided in ${member} unused in expressions: keys: {${unused.join(', ')}}`;
}

/** Every value in a key condition is a key's value. */
function keyConditionFault(body: Json): string | undefined {
  const condition = body.KeyConditionExpression;
  if (typeof condition !== 'string') return undefined;
  const values = object(body.ExpressionAttributeValues);
  for (const name of condition.match(/:[A-Za-z0-9_]+/g) ?? []) {
    const kind = emptyKind(values[name]);
    if (kind !== undefined) return emptyKey(kind, attributeAt(condition, name, body));
  }
  const [, low = '', high = ''] = /\bBETWEEN\s+(:\w+)\s+AND\s+(:\w+)/i.exec(condition) ?? [];
  const [from, to] = [object(values[low]).S, object(values[high]).S];
  if (
    typeof from === 'string' &&
    typeof to === 'string' &&
    Buffer.compare(Buffer.from(from), Buffer.from(to)) > 0
  )
    return 'Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower bound';
  return undefined;
}

/** The attribute that a placeholder is compared with. */
function attributeAt(condition: string, placeholder: string, body: Json): string {
  const before = condition.slice(0, condition.indexOf(placeholder));
  const words = before.match(/#?[A-Za-z_][A-Za-z0-9_]*/g) ?? [];
  const name = words.findLast((word) => !/^(AND|BETWEEN|begins_with)$/i.test(word)) ?? '';
  return String(object(body.ExpressionAttributeNames)[name] ?? name);
}

function keyFault(key: Json, keys?: TableKeys): string | undefined {
  return first(Object.entries(key), ([name, value]) => {
    const kind = emptyKind(value);
    if (kind !== undefined) return emptyKey(kind, name);
    return longKey(name, value, keys?.key);
  });
}

function itemFault(given: unknown, keys: TableKeys | undefined): string | undefined {
  if (given === undefined) return undefined;
  const item = object(given);
  if (itemBytes(item) > ITEM_BYTES) return 'Item size has exceeded the maximum allowed size';
  if (keys === undefined) return undefined;
  const ofTable = Object.fromEntries(keys.key.flatMap((name) => (name in item ? [[name, item[name]]] : [])));
  return keyFault(ofTable, keys) ?? indexFault(item, keys);
}

function indexFault(values: Json, { indexes }: TableKeys): string | undefined {
  return first(indexes, ({ name, key }) =>
    first(key, (attribute) => {
      const kind = emptyKind(values[attribute]);
      if (kind === undefined) return longKey(attribute, values[attribute], key);
      return `One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty ${kind} value. IndexName: ${name}, IndexKey: ${attribute}`;
    }),
  );
}

/** Values that an update sets in index keys: `SET #due = :at`, `SET due = if_not_exists(due, :at)`. */
function updateFault(body: Json, keys: TableKeys | undefined): string | undefined {
  const { UpdateExpression } = body;
  if (typeof UpdateExpression !== 'string' || keys === undefined) return undefined;
  const names = object(body.ExpressionAttributeNames);
  const values = object(body.ExpressionAttributeValues);
  const set = [
    ...UpdateExpression.matchAll(/(#?[A-Za-z_]\w*)\s*=\s*(?:if_not_exists\([^,]*,\s*)?(:\w+)/g),
  ].map(([, name = '', value = '']) => [String(names[name] ?? name), values[value]] as const);
  return indexFault(Object.fromEntries(set), keys);
}

const emptyKey = (kind: string, name: string): string =>
  `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ${kind} value. Key: ${name}`;

function longKey(name: string, value: unknown, key: readonly string[] = []): string | undefined {
  const limit = KEY_BYTES[key.indexOf(name)];
  if (limit === undefined || valueBytes(value) <= limit) return undefined;
  const which = key.indexOf(name) === 0 ? 'hashkey' : 'rangekey';
  return `One or more parameter values were invalid: Size of ${which} has exceeded the maximum size limit of${limit} bytes`;
}

function emptyKind(value: unknown): 'string' | 'binary' | undefined {
  const { S, B } = object(value);
  if (S === '') return 'string';
  return B === '' ? 'binary' : undefined;
}

/** Finds sets anywhere in a request that are empty or have a duplicate member. */
function emptySet(value: unknown): string | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  if (Array.isArray(value)) return first(value, emptySet);
  for (const [name, kind] of SETS) {
    const members = Object.keys(value).length === 1 ? object(value)[name] : undefined;
    if (!Array.isArray(members)) continue;
    if (members.length === 0)
      return `One or more parameter values were invalid: An ${kind} set  may not be empty`;
    if (new Set(members).size < members.length)
      return 'One or more parameter values were invalid: Input collection contains duplicates';
  }
  return first(Object.values(value), emptySet);
}
const SETS = [
  ['SS', 'string'],
  ['NS', 'number'],
  ['BS', 'binary'],
] as const;

/** Item size in bytes (Developer Guide, DynamoDB Item sizes and formats). */
export const itemBytes = (item: Json): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0);

function valueBytes(value: unknown): number {
  const [[type, content] = ['', undefined]] = Object.entries(object(value));
  switch (type) {
    case 'S':
      return Buffer.byteLength(String(content));
    case 'N':
      return numberBytes(String(content));
    case 'B':
      return Buffer.byteLength(String(content), 'base64');
    case 'SS':
      return sum(content, (one) => Buffer.byteLength(String(one)));
    case 'NS':
      return sum(content, (one) => numberBytes(String(one)));
    case 'BS':
      return sum(content, (one) => Buffer.byteLength(String(one), 'base64'));
    case 'L':
      return 3 + sum(content, (one) => 1 + valueBytes(one));
    case 'M':
      return 3 + itemBytes(object(content)) + Object.keys(object(content)).length;
    default:
      return 1;
  }
}

/** One byte per two significant digits, plus one. */
const numberBytes = (number: string): number =>
  Math.ceil(
    number
      .replace(/e.*$/i, '')
      .replace(/[-+.]/g, '')
      .replace(/^0+|0+$/g, '').length / 2,
  ) + 1;

const sum = (values: unknown, bytes: (value: unknown) => number): number =>
  Array.isArray(values) ? values.reduce((all: number, one) => all + bytes(one), 0) : 0;

/** Identifies an item; empty when the keys are unknown and the request does not name them. */
function identifyItem(table: string, item: unknown, key: Json, keys: TableKeys | undefined): string[] {
  if (item === undefined) return [identity(table, key)];
  if (keys === undefined) return [];
  return [identity(table, Object.fromEntries(keys.key.map((name) => [name, object(item)[name]])))];
}

const identity = (table: string, key: Json): string =>
  JSON.stringify([table.slice(table.lastIndexOf('/') + 1), Object.entries(key).sort()]);

const hasDuplicates = (identities: readonly string[]): boolean =>
  new Set(identities).size < identities.length;

const tooFew = (member: string): string =>
  `1 validation error detected: Value at '${member}' failed to satisfy constraint: Member must have length greater than or equal to 1`;

function first<T>(all: readonly T[], faultOf: (one: T) => string | undefined): string | undefined {
  for (const part of all) {
    const fault = faultOf(part);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const object = (value: unknown): Json =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : {};

const list = (value: unknown): Json[] => (Array.isArray(value) ? value.map(object) : []);
