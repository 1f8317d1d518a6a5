import {
  type AttributeDefinition,
  ConditionalCheckFailedException,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Table } from '../../../functions/store/table.ts';
import { conditionOf, type Placeholders, type Row, updateOf } from './expressions.ts';
import type { BatchWrite, Input, Write } from './input.ts';
import { MemoryIndex, namesIn, picked } from './memory-index.ts';

/** The parts of a table's definition that matter here. */
interface Definition {
  AttributeDefinitions?: AttributeDefinition[] | undefined;
  KeySchema?: KeySchemaElement[] | undefined;
  GlobalSecondaryIndexes?: GlobalSecondaryIndex[] | undefined;
}

/** A write that has taken effect. */
export interface Written {
  before: Row | undefined;
  after: Row | undefined;
}

/** Callbacks by which a simulated world affects its tables. */
interface TableTerms {
  nowMs(): number;
  /** How far an index is behind, in milliseconds. */
  lagMs(table: string, index: string): number;
  /** The result of an eventually consistent read of a row; by default the row. */
  asRead(table: string, key: Row, row: Row | undefined): Row | undefined;
  /** Changes a row before it is written over another, or added. */
  stored(row: Row, before: Row | undefined): Row;
  written(table: string, write: Written): void;
}

const PROMPT: TableTerms = {
  nowMs: () => 0,
  lagMs: () => 0,
  asRead: (_table, _key, row) => row,
  stored: (row) => row,
  written: () => undefined,
};

interface Store {
  name: string;
  keys: readonly string[];
  /** By partition, then by sort key. */
  rows: Map<string, Map<string, Row>>;
  indexes: ReadonlyMap<string, MemoryIndex>;
}

/** Properties that the document client leaves out of requests. */
function defined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(defined);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  const kept: Row = {};
  for (const [name, part] of Object.entries(value)) if (part !== undefined) kept[name] = defined(part);
  return kept;
}

/**
 * DynamoDB tables in memory, for the stores: their commands and expressions take effect on rows. A write
 * takes effect when it is sent, not when its answer is awaited. It passes the contract suites of the embedded
 * engine (`test/contract/store`).
 */
export class MemoryTables {
  readonly #stores = new Map<string, Store>();
  readonly #terms: TableTerms;
  readonly #tokens = new Set<string>();

  constructor(definitions: Readonly<Record<string, Definition>>, terms: Partial<TableTerms> = {}) {
    this.#terms = { ...PROMPT, ...terms };
    for (const [name, definition] of Object.entries(definitions)) this.#create(name, definition);
  }

  #create(name: string, { KeySchema, GlobalSecondaryIndexes = [] }: Definition): void {
    const keys = namesIn(KeySchema);
    const indexes = new Map(
      GlobalSecondaryIndexes.map((definition) => [
        String(definition.IndexName),
        new MemoryIndex(definition, keys, this.#terms.nowMs, () =>
          this.#terms.lagMs(name, String(definition.IndexName)),
        ),
      ]),
    );
    this.#stores.set(name, { name, keys, rows: new Map(), indexes });
  }

  /** A client that shares the rows with all others. */
  get client(): DynamoDBDocumentClient {
    // The stores only use `send` of the client; paginators check its class.
    return Object.create(DynamoDBDocumentClient.prototype, {
      send: { value: (command: object) => this.#send(command) },
    });
  }

  table(name: string): Table {
    return { client: this.client, name };
  }

  /** All rows of a table, by partitions and sort keys in the order of their addition. */
  all(name: string): Row[] {
    return [...this.#store(name).rows.values()].flatMap((rows) => [...rows.values()]);
  }

  get(name: string, key: Row): Row | undefined {
    const store = this.#store(name);
    const [pk, sk] = placeOf(store, key);
    return store.rows.get(pk)?.get(sk);
  }

  /** Stores a row as it is. */
  put(name: string, row: Row): void {
    this.#replace(this.#store(name), row, defined(row) as Row);
  }

  delete(name: string, key: Row): void {
    this.#replace(this.#store(name), key, undefined);
  }

  #store(name: string | undefined): Store {
    const store = this.#stores.get(String(name));
    if (store === undefined) throw new Error(`there is no table ${name}`);
    return store;
  }

  async #send(command: object): Promise<unknown> {
    const { input } = command as { input: Input };
    const answer = this.#answers[command.constructor.name];
    if (answer === undefined) throw new Error(`${command.constructor.name} is not known to this double`);
    return answer(input);
  }

  readonly #answers: Record<string, (input: Input) => unknown> = {
    GetCommand: ({ TableName, Key = {}, ConsistentRead }) => {
      const row = this.get(String(TableName), Key);
      const Item = ConsistentRead ? row : this.#terms.asRead(String(TableName), Key, row);
      return Item === undefined ? {} : { Item };
    },
    BatchGetCommand: ({ RequestItems = {} }) => ({
      Responses: Object.fromEntries(
        Object.entries(RequestItems).map(([name, request]) => [
          name,
          'Keys' in request ? this.#found(name, request.Keys) : [],
        ]),
      ),
    }),
    PutCommand: (input) => this.#single(input),
    UpdateCommand: (input) => this.#single(input),
    DeleteCommand: (input) => this.#single(input),
    BatchWriteCommand: ({ RequestItems = {} }) => {
      for (const [name, writes] of Object.entries(RequestItems))
        for (const { DeleteRequest, PutRequest } of Array.isArray(writes) ? (writes as BatchWrite[]) : []) {
          if (DeleteRequest !== undefined) this.delete(name, DeleteRequest.Key);
          if (PutRequest !== undefined) this.put(name, PutRequest.Item);
        }
      return {};
    },
    QueryCommand: (input) => this.#query(input),
    ScanCommand: ({ TableName }) => ({ Items: this.all(String(TableName)) }),
    TransactWriteCommand: ({ TransactItems, ClientRequestToken }) =>
      this.#transact(TransactItems ?? [], ClientRequestToken),
  };

  #found(name: string, keys: readonly Row[] = []): Row[] {
    return keys
      .map((key) => this.#terms.asRead(name, key, this.get(name, key)))
      .filter((row) => row !== undefined);
  }

  #query(input: Input): { Items: Row[]; LastEvaluatedKey?: Row } {
    const { TableName, IndexName, ScanIndexForward = true, Limit, ExclusiveStartKey: start } = input;
    const store = this.#store(TableName);
    const keys = IndexName === undefined ? store.keys : this.#index(store, IndexName).keys;
    const [pkName = '', skName = ''] = keys;
    const given = givenOf(input);
    const text = String(input.KeyConditionExpression);
    const partition = new RegExp(`(?:^|\\s)${pkName} = (:\\w+)`).exec(text)?.[1] ?? '';
    const pk = String(given.values[partition]);
    const rows =
      IndexName === undefined
        ? [...(store.rows.get(pk)?.values() ?? [])]
        : this.#index(store, IndexName).shown(pk);
    const condition = conditionOf(text);
    const isWanted = input.FilterExpression === undefined ? () => true : conditionOf(input.FilterExpression);
    const place = (row: Row) => [String(row[skName] ?? ''), ...placeOf(store, row)].join('\u0000');
    const sorted = rows
      .filter((row) => condition(row, given))
      .toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
    if (!ScanIndexForward) sorted.reverse();
    const isAfter = (row: Row) =>
      start === undefined || (ScanIndexForward ? place(row) > place(start) : place(row) < place(start));
    const left = sorted.filter(isAfter);
    const read = left.slice(0, Limit);
    const last = read.at(-1);
    // Filtered rows were read too, so they count towards the limit.
    const Items = read.filter((row) => isWanted(row, given));
    if (last === undefined || (Limit ?? Number.POSITIVE_INFINITY) > left.length) return { Items };
    return { Items, LastEvaluatedKey: picked(last, [...store.keys, ...keys]) };
  }

  #index(store: Store, name: string): MemoryIndex {
    const index = store.indexes.get(name);
    if (index === undefined) throw new Error(`${store.name} has no index ${name}`);
    return index;
  }

  /** @throws ConditionalCheckFailedException */
  #single(input: Write): { Attributes?: Row } {
    const { before, after } = this.#prepared(input);
    this.#replace(this.#store(input.TableName), input.Item ?? input.Key ?? {}, after);
    if (input.ReturnValues === 'ALL_NEW' && after) return { Attributes: after };
    return input.ReturnValues === 'ALL_OLD' && before ? { Attributes: before } : {};
  }

  /**
   * The row after a write.
   * @throws ConditionalCheckFailedException when its condition is false
   */
  #prepared(input: Write): Written {
    const { TableName, Key, Item, UpdateExpression, ConditionExpression } = input;
    const store = this.#store(TableName);
    const key = picked(Item ?? Key ?? {}, store.keys);
    const before = this.get(store.name, key);
    const given = givenOf(input);
    if (ConditionExpression !== undefined && !conditionOf(ConditionExpression)(before ?? {}, given))
      throw new ConditionalCheckFailedException({
        message: 'The conditional request failed',
        $metadata: {},
        ...(input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && before
          ? { Item: marshall(before, { removeUndefinedValues: true }) }
          : {}),
      });
    if (Item !== undefined) return { before, after: defined(Item) as Row };
    if (UpdateExpression === undefined) return { before, after: undefined };
    return { before, after: defined(updateOf(UpdateExpression)(before ?? key, given)) as Row };
  }

  #transact(items: readonly Record<string, Write>[], token?: string): object {
    if (token !== undefined && this.#tokens.has(token)) return {};
    const prepared = items.map((item) => {
      const [kind = '', write = {}] = Object.entries(item)[0] ?? [];
      try {
        return { kind, write, result: this.#prepared(write) };
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return { kind, write, result: undefined };
        throw error;
      }
    });
    if (prepared.some(({ result }) => result === undefined))
      throw new TransactionCanceledException({
        message: 'Transaction cancelled',
        $metadata: {},
        CancellationReasons: prepared.map(({ result }) => ({
          Code: result === undefined ? 'ConditionalCheckFailed' : 'None',
        })),
      });
    for (const { kind, write, result } of prepared)
      if (kind !== 'ConditionCheck')
        this.#replace(this.#store(write.TableName), write.Item ?? write.Key ?? {}, result?.after);
    if (token !== undefined) this.#tokens.add(token);
    return {};
  }

  #replace(store: Store, key: Row, row: Row | undefined): void {
    const [pk, sk] = placeOf(store, key);
    const rows = store.rows.get(pk) ?? new Map<string, Row>();
    const before = rows.get(sk);
    const after = row && this.#terms.stored(row, before);
    if (after === undefined) rows.delete(sk);
    else store.rows.set(pk, rows.set(sk, after));
    for (const index of store.indexes.values()) index.replace(before, after);
    if (before !== undefined || after !== undefined) this.#terms.written(store.name, { before, after });
  }
}

function placeOf({ keys, name }: Store, row: Row): [pk: string, sk: string] {
  const [pk, sk = ''] = keys.map((key) => row[key]);
  if (typeof pk !== 'string' || typeof sk !== 'string') throw new Error(`a key of ${name} is incomplete`);
  return [pk, sk];
}

const givenOf = ({ ExpressionAttributeNames, ExpressionAttributeValues }: Write): Placeholders => ({
  names: ExpressionAttributeNames ?? {},
  values: ExpressionAttributeValues ?? {},
});
