import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  QueryCommand,
  ResourceNotFoundException,
  ScanCommand,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { EXPRESSIONS, findExpressionFault } from 'aws-local/permissions/dynamodb-rules.ts';
import type { Table } from '../../../functions/aws/table.ts';
import { fromCommand, toAnswer, toAttributes } from './attributes.ts';
import {
  conditionOf,
  InvalidRequest,
  type Placeholders,
  partitionIn,
  projectionOf,
  type Row,
  updateOf,
} from './expressions.ts';
import type { BatchWrite, Input, Keys, Write } from './input.ts';
import { MemoryIndex, namesIn, picked } from './memory-index.ts';
import { readUnits, sizeOfRow, writeUnits } from './sizes.ts';

/** The parts of a table's definition that matter here. */
export interface Definition {
  KeySchema?: KeySchemaElement[] | undefined;
  GlobalSecondaryIndexes?: GlobalSecondaryIndex[] | undefined;
}

/** A write that has taken effect. */
export interface Written {
  table: string;
  before: Row | undefined;
  after: Row | undefined;
}

/** Callbacks by which a simulated world affects its tables. */
interface TableTerms {
  nowMs(): number;
  /** How far an index is behind, in milliseconds. */
  lagMs(table: string, index: string): number;
  /**
   * How old the result of an eventually consistent read of a row is, in milliseconds: the row as it was then.
   */
  staleMs(table: string): number;
  /** Bytes of the rows of a page at most; without a limit, rows are not measured. */
  pageBytes: number;
  /** What one request has written, all at once. */
  written(writes: readonly Written[]): void;
}

const PROMPT: TableTerms = {
  nowMs: () => 0,
  lagMs: () => 0,
  staleMs: () => 0,
  pageBytes: 1_048_576,
  written: () => undefined,
};

/** Milliseconds for which a transaction's token is known. */
const TOKEN_MS = 600_000;

interface Partition {
  rows: Map<string, Row>;
  /** In the order of their sort keys; undefined after a change of their keys. */
  sorted: string[] | undefined;
}

interface Store {
  name: string;
  keys: readonly string[];
  partitions: Map<string, Partition>;
  indexes: ReadonlyMap<string, MemoryIndex>;
  /** Earlier versions of rows by their place, and until when each was current. */
  past: Map<string, { row: Row | undefined; untilMs: number }>;
}

/** Passes a request on, or not: `answer` is its effect. */
export type Interceptor = (operation: string, input: Input, answer: () => unknown) => Promise<unknown>;

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
 * DynamoDB tables in memory: commands and expressions take effect on rows when they are sent, not when their
 * answer is awaited. They pass the contract suite of the embedded engine (`memory-engine.ts`), and have no
 * streams and no time to live. A row is never changed but replaced.
 */
export class MemoryTables {
  readonly #stores = new Map<string, Store>();
  readonly #terms: TableTerms;
  readonly #tokens = new Map<string, { items: unknown; ms: number }>();

  constructor(definitions: Readonly<Record<string, Definition>>, terms: Partial<TableTerms> = {}) {
    this.#terms = { ...PROMPT, ...terms };
    for (const [name, definition] of Object.entries(definitions)) this.create(name, definition);
  }

  create(name: string, { KeySchema, GlobalSecondaryIndexes = [] }: Definition): void {
    const keys = namesIn(KeySchema);
    const indexes = new Map(
      GlobalSecondaryIndexes.map((definition) => [
        String(definition.IndexName),
        new MemoryIndex(definition, keys, this.#terms.nowMs, () =>
          this.#terms.lagMs(name, String(definition.IndexName)),
        ),
      ]),
    );
    this.#stores.set(name, { name, keys, partitions: new Map(), indexes, past: new Map() });
  }

  /** A client that shares the rows with all others. */
  client(pass: Interceptor = async (_operation, _input, answer) => answer()): DynamoDBClient {
    const send = async (command: { input: object }): Promise<unknown> => {
      const { name } = command.constructor;
      const isPlain =
        /Items?Command$/.test(name) || command instanceof QueryCommand || command instanceof ScanCommand;
      const operation = name.replace(/(Items?)?Command$/, '');
      const input = isPlain ? fromCommand(command.input) : command.input;
      const answer = await pass(operation, input, () => this.answer(operation, input));
      return isPlain ? toAnswer(Object(answer)) : answer;
    };
    // The stores only use `send` of the client; paginators check its class.
    return Object.create(DynamoDBClient.prototype, { send: { value: send } });
  }

  table(name: string, client = this.client()): Table {
    return { client, name };
  }

  /** All rows of a table, by partitions and sort keys in the order of their addition. */
  all(name: string): Row[] {
    return [...this.#store(name).partitions.values()].flatMap(({ rows }) => [...rows.values()]);
  }

  /** Whether a query's partition has no row. */
  isEmpty(input: Input): boolean {
    const store = this.#store(input.TableName);
    const index = input.IndexName === undefined ? undefined : this.#index(store, input.IndexName);
    const [pkName = ''] = index?.keys ?? store.keys;
    const pk = String(partitionIn(String(input.KeyConditionExpression), pkName, givenOf(input)));
    return index === undefined ? !store.partitions.get(pk)?.rows.size : index.shown(pk).length === 0;
  }

  get(name: string, key: Row): Row | undefined {
    const store = this.#store(name);
    const [pk, sk] = placeOf(store, key);
    return store.partitions.get(pk)?.rows.get(sk);
  }

  /** Stores a row as it is. */
  put(name: string, row: Row): void {
    this.#write([{ store: this.#store(name), key: row, row: defined(row) as Row }]);
  }

  delete(name: string, key: Row): void {
    this.#write([{ store: this.#store(name), key, row: undefined }]);
  }

  #store(name: string | undefined): Store {
    const store = this.#stores.get(String(name));
    if (store === undefined)
      throw new ResourceNotFoundException({ message: `there is no table ${name}`, $metadata: {} });
    return store;
  }

  /** @param operation such as `Get` or `TransactWrite` */
  answer(operation: string, input: Input): object {
    const answer = this.#answers[operation];
    if (answer === undefined) throw new Error(`${operation} is not known to this double`);
    for (const part of partsOf(input)) checkExpressions(part);
    return answer(input);
  }

  readonly #answers: Record<string, (input: Input) => object> = {
    Get: ({ TableName, Key = {}, ...input }) => {
      const { row, units } = this.#read(String(TableName), Key, input);
      return { ...(row && { Item: row }), ...capacity(input, () => [[String(TableName), units()]]) };
    },
    BatchGet: ({ RequestItems = {}, ...input }) => {
      const answers = Object.entries(RequestItems).map(([name, request]) => {
        const asked = request as Keys;
        return [name, (asked.Keys ?? []).map((key) => this.#read(name, key, asked))] as const;
      });
      const Responses = Object.fromEntries(
        answers.map(([name, reads]) => [name, reads.flatMap(({ row }) => row ?? [])]),
      );
      return {
        Responses,
        UnprocessedKeys: {},
        ...capacity(input, () => answers.map(unitsOfAll), 'by table'),
      };
    },
    Put: (input) => this.#single('Put', input),
    Update: (input) => this.#single('Update', input),
    Delete: (input) => this.#single('Delete', input),
    BatchWrite: ({ RequestItems = {} }) => {
      for (const [name, writes] of Object.entries(RequestItems))
        for (const { DeleteRequest, PutRequest } of Array.isArray(writes) ? (writes as BatchWrite[]) : []) {
          if (DeleteRequest !== undefined) this.delete(name, DeleteRequest.Key);
          if (PutRequest !== undefined) this.put(name, PutRequest.Item);
        }
      return { UnprocessedItems: {} };
    },
    Query: (input) => this.#query(input),
    Scan: (input) => {
      const store = this.#store(input.TableName);
      const place = (row: Row) => placeOf(store, row).join('\u0000');
      const rows = this.all(store.name).toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
      const { ExclusiveStartKey: start } = input;
      return this.#page(
        store,
        input,
        store.keys,
        start === undefined ? rows : rows.filter((row) => place(row) > place(start)),
      );
    },
    TransactWrite: (input) => this.#transact(input),
  };

  #read(name: string, key: Row, { ConsistentRead, ...asked }: Keys) {
    const present = this.get(name, key);
    const row = ConsistentRead === true ? present : this.#stale(name, key, present);
    return {
      row: row && projected(asked, row),
      units: () => readUnits(row === undefined ? 0 : sizeOfRow(row), ConsistentRead),
    };
  }

  #stale(name: string, key: Row, row: Row | undefined): Row | undefined {
    const ageMs = this.#terms.staleMs(name);
    if (ageMs <= 0) return row;
    const store = this.#store(name);
    const past = store.past.get(placeOf(store, key).join('\u0000'));
    return past !== undefined && past.untilMs > this.#terms.nowMs() - ageMs ? past.row : row;
  }

  #query(input: Input): object {
    const { TableName, IndexName, ScanIndexForward = true, ExclusiveStartKey: start } = input;
    const store = this.#store(TableName);
    const index = IndexName === undefined ? undefined : this.#index(store, IndexName);
    const [pkName = '', skName = ''] = index?.keys ?? store.keys;
    const given = givenOf(input);
    const text = String(input.KeyConditionExpression);
    const condition = conditionOf(text);
    const pk = String(partitionIn(text, pkName, given));
    const rows = (index === undefined ? inOrder(store.partitions.get(pk)) : index.shown(pk)).filter((row) =>
      condition(row, given),
    );
    const place = (row: Row) => [String(row[skName] ?? ''), ...placeOf(store, row)].join('\u0000');
    if (index !== undefined) rows.sort((a, b) => (place(a) < place(b) ? -1 : 1));
    if (!ScanIndexForward) rows.reverse();
    const isAfter = (row: Row) =>
      start === undefined || (ScanIndexForward ? place(row) > place(start) : place(row) < place(start));
    const keys = index === undefined ? store.keys : [...store.keys, ...index.keys];
    return this.#page(store, input, keys, start === undefined ? rows : rows.filter(isAfter));
  }

  /** The first of these rows that a request returns. Filtered ones are read too, so they count. */
  #page(store: Store, input: Input, keys: readonly string[], rows: readonly Row[]): object {
    const { Limit = Number.POSITIVE_INFINITY, FilterExpression, Select, ConsistentRead } = input;
    const given = givenOf(input);
    const count = this.#countFitting(rows, Math.min(Limit, rows.length));
    const read = rows.slice(0, count);
    const matching =
      FilterExpression === undefined ? read : read.filter((row) => conditionOf(FilterExpression)(row, given));
    const last = read.at(-1);
    const isWhole = count === rows.length && count < Limit;
    return {
      ...(Select === 'COUNT' ? {} : { Items: matching.map((row) => projected(input, row)) }),
      Count: matching.length,
      ScannedCount: count,
      ...(last === undefined || isWhole ? {} : { LastEvaluatedKey: picked(last, keys) }),
      ...capacity(input, () => [[store.name, readUnits(bytesOf(read), ConsistentRead)]]),
    };
  }

  /** How many of the first rows a page has. */
  #countFitting(rows: readonly Row[], most: number): number {
    if (this.#terms.pageBytes === Number.POSITIVE_INFINITY) return most;
    let bytes = 0;
    for (const [index, row] of rows.slice(0, most).entries()) {
      bytes += sizeOfRow(row);
      if (index > 0 && bytes > this.#terms.pageBytes) return index;
    }
    return most;
  }

  #index(store: Store, name: string): MemoryIndex {
    const index = store.indexes.get(name);
    if (index === undefined) throw new InvalidRequest(`The table does not have the specified index: ${name}`);
    return index;
  }

  /** @throws ConditionalCheckFailedException */
  #single(kind: string, input: Input): object {
    const { store, key, before, row } = this.#prepared(kind, input);
    this.#write([{ store, key, row }]);
    const { ReturnValues = 'NONE' } = input;
    const shown = ReturnValues.endsWith('_OLD') ? before : row;
    const isPart = ReturnValues.startsWith('UPDATED') && shown !== undefined;
    const changed = isPart && Object.keys(shown).filter((name) => before?.[name] !== row?.[name]);
    return {
      ...(ReturnValues !== 'NONE' && shown && { Attributes: changed ? picked(shown, changed) : shown }),
      ...capacity(input, () => [[store.name, unitsOfWrite(store, before, row)]]),
    };
  }

  /**
   * The row after a write.
   * @throws ConditionalCheckFailedException when its condition is false
   */
  #prepared(kind: string, input: Write) {
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
          ? { Item: toAttributes(before) }
          : {}),
      });
    const after: Record<string, () => Row | undefined> = {
      Put: () => defined(Item) as Row,
      Update: () =>
        UpdateExpression === undefined ? (before ?? key) : updated(UpdateExpression, before ?? key, given),
      Delete: () => undefined,
      ConditionCheck: () => before,
    };
    return { store, key, before, row: after[kind]?.() };
  }

  #transact({ TransactItems = [], ClientRequestToken: token, ...input }: Input): object {
    const nowMs = this.#terms.nowMs();
    const cached = token === undefined ? undefined : this.#tokens.get(token);
    if (cached !== undefined && nowMs - cached.ms < TOKEN_MS) {
      if (cached.items === TransactItems || JSON.stringify(cached.items) === JSON.stringify(TransactItems))
        return {};
      throw Object.assign(new Error('The token was used for other items'), {
        name: 'IdempotentParameterMismatchException',
      });
    }
    const prepared = TransactItems.map((item) => {
      const [kind = '', write = {}] = Object.entries(item)[0] ?? [];
      try {
        return { kind, ...this.#prepared(kind, write) };
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return error;
        throw error;
      }
    });
    const writes = prepared.flatMap((one) => (one instanceof Error ? [] : [one]));
    if (writes.length < prepared.length)
      throw new TransactionCanceledException({
        message: 'Transaction cancelled, please refer cancellation reasons for specific reasons',
        $metadata: {},
        CancellationReasons: prepared.map((result) =>
          result instanceof Error
            ? {
                Code: 'ConditionalCheckFailed',
                Message: result.message,
                ...(result.Item && { Item: result.Item }),
              }
            : { Code: 'None' },
        ),
      });
    const units = () =>
      writes.map(({ store, before, row }): [string, number] => [
        store.name,
        2 * unitsOfWrite(store, before, row),
      ]);
    this.#write(writes.filter(({ kind }) => kind !== 'ConditionCheck'));
    if (token !== undefined) this.#tokens.set(token, { items: TransactItems, ms: nowMs });
    return capacity(input, units, 'by table');
  }

  /** Replaces rows, all at once. */
  #write(writes: readonly { store: Store; key: Row; row: Row | undefined }[]): void {
    const written: Written[] = [];
    for (const { store, key, row: after } of writes) {
      const [pk, sk] = placeOf(store, key);
      let partition = store.partitions.get(pk);
      const before = partition?.rows.get(sk);
      if (before === after) continue;
      if (partition === undefined) {
        partition = { rows: new Map(), sorted: undefined };
        store.partitions.set(pk, partition);
      }
      if (before === undefined || after === undefined) partition.sorted = undefined;
      if (after === undefined) partition.rows.delete(sk);
      else partition.rows.set(sk, after);
      if (this.#terms !== PROMPT)
        store.past.set(`${pk}\u0000${sk}`, { row: before, untilMs: this.#terms.nowMs() });
      for (const index of store.indexes.values()) index.replace(before, after);
      written.push({ table: store.name, before, after });
    }
    if (written.length > 0) this.#terms.written(written);
  }
}

const updated = (text: string, row: Row, given: Placeholders): Row => updateOf(text)(row, given);

const projected = ({ ProjectionExpression: text, ...input }: Keys & Write, row: Row): Row =>
  text === undefined ? row : projectionOf(text)(row, givenOf(input));

function inOrder(partition: Partition | undefined): Row[] {
  if (partition === undefined) return [];
  partition.sorted ??= [...partition.rows.keys()].sort();
  return partition.sorted.map((sk) => partition.rows.get(sk)).filter((row) => row !== undefined);
}

function placeOf({ keys, name }: Store, row: Row): [pk: string, sk: string] {
  const [pkName = '', skName] = keys;
  const [pk, sk] = [row[pkName], skName === undefined ? '' : row[skName]];
  if (typeof pk !== 'string' || typeof sk !== 'string')
    throw new InvalidRequest(`a key of ${name} is incomplete`);
  return [pk, sk];
}

const givenOf = ({ ExpressionAttributeNames, ExpressionAttributeValues }: Write): Placeholders => ({
  names: ExpressionAttributeNames ?? {},
  values: ExpressionAttributeValues ?? {},
});

/** The parts of a request that have expressions of their own. */
const partsOf = ({ RequestItems = {}, TransactItems = [], ...input }: Input): Input[] => [
  input,
  ...TransactItems.flatMap(Object.values<Write>),
  ...Object.values(RequestItems).filter((keys): keys is Keys => !Array.isArray(keys)),
];

/** Forms of requests that were checked: a run has the same thousands of times. */
const checked = new Set<string>();

/** @throws InvalidRequest for expressions that DynamoDB refuses, such as one that does not use a value */
function checkExpressions(input: Input): void {
  const { names, values } = givenOf(input);
  const texts = EXPRESSIONS.map((name) => input[name]);
  const form = [...texts, ...Object.keys(names), ...Object.keys(values)].join('\n');
  if (checked.has(form)) return;
  const fault = findExpressionFault(input);
  if (fault !== undefined) throw new InvalidRequest(fault);
  checked.add(form);
}

const unitsOfAll = ([name, reads]: readonly [string, readonly { units(): number }[]]): [string, number] => [
  name,
  reads.reduce((sum, { units }) => sum + units(), 0),
];

const unitsOfWrite = ({ indexes }: Store, before: Row | undefined, after: Row | undefined): number =>
  [...indexes.values()].reduce((sum, index) => sum + index.unitsOf(before, after), writeUnits(before, after));

const bytesOf = (rows: readonly Row[]): number => rows.reduce((bytes, row) => bytes + sizeOfRow(row), 0);

/** The consumed units of a request that asks for them. */
function capacity(
  { ReturnConsumedCapacity: wanted = 'NONE' }: Pick<Input, 'ReturnConsumedCapacity'>,
  units: () => readonly (readonly [table: string, units: number])[],
  form: 'alone' | 'by table' = 'alone',
): object {
  if (wanted === 'NONE') return {};
  const tables = Map.groupBy(units(), ([table]) => table);
  const consumed = [...tables].map(([TableName, own]) => ({
    TableName,
    CapacityUnits: own.reduce((sum, [, each]) => sum + each, 0),
  }));
  return { ConsumedCapacity: form === 'alone' ? consumed[0] : consumed };
}
