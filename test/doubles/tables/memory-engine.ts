import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Engine } from 'aws-local/engines/engine.ts';
import { failure, startJsonService, success } from 'aws-local/engines/json-service.ts';
import { type KeysOf, refusalByDynamoDb } from 'aws-local/permissions/dynamodb-rules.ts';
import type { Row } from './expressions.ts';
import type { Input } from './input.ts';
import { namesIn } from './memory-index.ts';
import { type Definition, MemoryTables } from './memory-tables.ts';

type Json = Record<string, unknown>;
type Value = Parameters<typeof unmarshall>[0];

/** Fields of requests and answers that are rows, and lists of rows. */
const ROWS = new Set([
  'Key',
  'Item',
  'Attributes',
  'ExpressionAttributeValues',
  'ExclusiveStartKey',
  'LastEvaluatedKey',
]);
const LISTS = new Set(['Keys', 'Items']);

/** The tables in memory as a service, so that everything that uses DynamoDB can use them. */
export async function startMemoryDynamoDb(): Promise<Engine> {
  const tables = new MemoryTables({}, { nowMs: () => Date.now() });
  const definitions = new Map<string, Definition>();
  const keysOf: KeysOf = (table) => {
    const { KeySchema, GlobalSecondaryIndexes = [] } = definitions.get(table) ?? {};
    const indexes = GlobalSecondaryIndexes.map((index) => ({
      name: String(index.IndexName),
      key: namesIn(index.KeySchema),
    }));
    return KeySchema && { key: namesIn(KeySchema), indexes };
  };
  const answers: Record<string, (body: Json & Definition) => object> = {
    CreateTable({ TableName, ...definition }) {
      tables.create(String(TableName), definition);
      definitions.set(String(TableName), definition);
      return { TableDescription: { TableName, TableStatus: 'ACTIVE' } };
    },
    DescribeTable: ({ TableName }) => ({
      Table: { TableName, TableStatus: 'ACTIVE', ...definitions.get(String(TableName)) },
    }),
  };
  return startJsonService(({ target = '', body }) => {
    const operation = target.slice(target.lastIndexOf('.') + 1);
    const refusal = refusalByDynamoDb(operation, body, keysOf);
    if (refusal !== undefined) return failure('ValidationException', refusal);
    const own = answers[operation];
    if (own !== undefined) return success(own(body as Json) as Json);
    try {
      const answer = tables.answer(operation.replace(/Items?$/, ''), rowsIn(body, unmarshalled) as Input);
      return success(rowsIn(answer, marshalled) as Json);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const { status, body: described } = failure(`com.amazonaws#${error.name}`, error.message);
      return {
        status,
        body: {
          ...Object(described),
          ...(error instanceof ConditionalCheckFailedException && { Item: error.Item }),
          ...(error instanceof TransactionCanceledException && {
            CancellationReasons: error.CancellationReasons,
          }),
        },
        headers: { 'x-amzn-requestid': randomUUID() },
      };
    }
  });
}

const unmarshalled = (row: unknown): unknown =>
  unmarshall(withBytes(row, 'string', (text) => Buffer.from(text as string, 'base64')) as Value);
const marshalled = (row: unknown): unknown =>
  withBytes(marshall(row as Row), 'object', (bytes) => Buffer.from(bytes as Uint8Array).toString('base64'));

/** Binary values are texts in JSON. */
function withBytes(value: unknown, of: 'string' | 'object', form: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => withBytes(one, of, form));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      // An attribute may have the name of the type too, and is an object then.
      name === 'B' && (of === 'string' ? typeof part === 'string' : part instanceof Uint8Array)
        ? form(part)
        : withBytes(part, of, form),
    ]),
  );
}

/** The same request or answer with its rows in another form. */
function rowsIn(value: unknown, form: (row: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => rowsIn(one, form));
  if (typeof value !== 'object' || value === null) return value;
  const changed = Object.entries(value).map(([name, part]): [string, unknown] => {
    if (ROWS.has(name)) return [name, form(part)];
    if (LISTS.has(name) && Array.isArray(part)) return [name, part.map(form)];
    // Rows that were found, by their tables.
    if (name === 'Responses')
      return [
        name,
        Object.fromEntries(
          Object.entries(part).map(([table, rows]) => [table, (rows as unknown[]).map(form)]),
        ),
      ];
    return [name, rowsIn(part, form)];
  });
  return Object.fromEntries(changed);
}
