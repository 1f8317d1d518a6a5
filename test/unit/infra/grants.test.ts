import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveAccess } from '../../../lib/infra/grants/derive.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'grants-'));
  // The analysis finds this function's environment by its file and name.
  write(
    'functions/aws/config.ts',
    'export function readEnvironment(schema) { return schema.parse(process.env); }',
  );
  write(
    'store.ts',
    `import { DeleteCommand, GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
     export const add = (table) => ({ write: { Put: { TableName: table.name } } });
     export function store(table) {
       const base = { TableName: table.name };
       return {
         async find(id) { return table.client.send(new GetCommand({ ...base, Key: { id } })); },
         async put(id) { try { await ping(); } catch { await table.client.send(new PutCommand(base)); } },
         remove: (id) => table.client.send(new DeleteCommand({ ...base, Key: { id } })),
         async *due() { yield* (await table.client.send(new QueryCommand({ ...base, IndexName: 'due' }))).Items; },
       };
     }`,
  );
});
afterAll(() => rmSync(directory, { recursive: true }));

function write(file: string, source: string): void {
  const path = join(directory, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, source);
}

/** The permissions of a function with this module body. */
function accessOf(body: string) {
  write(
    'entry.ts',
    `import { readEnvironment } from './functions/aws/config.ts';
     import { TransactWriteCommand, BatchGetCommand, GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
     import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
     import middy from '@middy/core';
     import { add, store } from './store.ts';
     const environment = readEnvironment(Schema);
     const client = clientOf();
     const table = { client, name: environment.ORDERS_TABLE };
     const other = { client, name: environment.OTHER_TABLE };
     ${body}`,
  );
  return deriveAccess([join(directory, 'entry.ts')]);
}

const GET = { ORDERS_TABLE: ['dynamodb:GetItem'] };
const PUT = { ORDERS_TABLE: ['dynamodb:PutItem'] };

describe('deriving permissions from code', () => {
  it.each<[what: string, body: string, access: object]>([
    ['a method that is called', 'export const handler = () => store(table).find(1);', GET],
    ['no method that is not called', 'const orders = store(table); export const handler = () => 1;', {}],
    ['what happens in a catch clause', 'export const handler = () => store(table).put(1);', PUT],
    [
      'a handler that a package calls',
      'export const handler = middy().use(x()).handler(async () => { await store(table).find(1); });',
      GET,
    ],
    [
      'the methods of a port that a use case calls, and not the others',
      `const useCase = ({ orders }) => async () => orders.find(1);
       export const handler = useCase({ orders: { ...store(table), other: 1 } });`,
      GET,
    ],
    [
      'a function that is passed on',
      'const each = (work) => work(1); export const handler = () => each(store(table).find);',
      GET,
    ],
    ['a callback of an array', 'export const handler = (event) => event.ids.map(store(table).find);', GET],
    [
      'what a generator reads, of an index',
      'export const handler = async () => { for await (const row of store(table).due()) row; };',
      { 'ORDERS_TABLE/index/due': ['dynamodb:Query'] },
    ],
    [
      'each table of a list',
      'const all = [table, other].map(store); export const handler = () => { for (const one of all) one.find(1); };',
      { ORDERS_TABLE: ['dynamodb:GetItem'], OTHER_TABLE: ['dynamodb:GetItem'] },
    ],
    [
      'the tables of a batch',
      'export const handler = () => client.send(new BatchGetCommand({ RequestItems: { [table.name]: {}, [other.name]: {} } }));',
      { ORDERS_TABLE: ['dynamodb:BatchGetItem'], OTHER_TABLE: ['dynamodb:BatchGetItem'] },
    ],
    [
      'the parts of a transaction, wherever they were made',
      `const commit = (changes) => client.send(new TransactWriteCommand({ TransactItems: changes.map((change) => change.write) }));
       const check = { write: { ConditionCheck: { TableName: other.name } } };
       export const handler = (event) => commit([add(table), ...(event.sandbox ? [check] : [])]);`,
      { ORDERS_TABLE: ['dynamodb:PutItem'], OTHER_TABLE: ['dynamodb:ConditionCheckItem'] },
    ],
    [
      'a paginator',
      'export const handler = () => paginateQuery({ client }, { TableName: table.name });',
      { ORDERS_TABLE: ['dynamodb:Query'] },
    ],
    [
      'each queue that a key may name, and no other',
      `const urls = { fast: environment.FAST_QUEUE, slow: environment.SLOW_QUEUE, stalled: environment.STALLED_QUEUE };
       const queueOf = (isSlow) => (isSlow ? 'slow' : 'stalled');
       export const handler = (event) => client.send(new SendMessageBatchCommand({ QueueUrl: urls[queueOf(event.isSlow)] }));`,
      { SLOW_QUEUE: ['sqs:SendMessage'], STALLED_QUEUE: ['sqs:SendMessage'] },
    ],
    [
      'no property that a pattern took out of an object',
      `const all = { fast: environment.FAST_QUEUE, slow: environment.SLOW_QUEUE };
       const { fast: _, ...others } = all;
       export const handler = (event) => client.send(new SendMessageBatchCommand({ QueueUrl: others[event.lane] }));`,
      { SLOW_QUEUE: ['sqs:SendMessage'] },
    ],
    [
      'a module that is imported when it is needed',
      "export const handler = async () => (await import('./store.ts')).store(table).find(1);",
      GET,
    ],
    [
      'what is kept in a variable of the module',
      'let kept; export const handler = () => { kept ??= store(table).find; return kept(1); };',
      GET,
    ],
    [
      'functions that call each other without end',
      'const a = (n) => (n > 0 ? b([n]) : store(table).find(n)); const b = (n) => a([n]); export const handler = () => a(1);',
      GET,
    ],
  ])('finds %s', (_, body, access) => {
    expect(accessOf(body)).toEqual(access);
  });

  it.each([
    [
      'a table that nothing names',
      'export const handler = (event) => store({ client, name: event.table }).find(1);',
    ],
    [
      'a table that may be another',
      'export const handler = (event) => client.send(new GetCommand({ TableName: event.table ?? table.name }));',
    ],
  ])('fails at %s', (_, body) => {
    expect(() => accessOf(body)).toThrow(
      'GetCommand of @aws-sdk/lib-dynamodb: its resource cannot be derived',
    );
  });

  it('fails at a command whose permission is unknown', () => {
    const body = `import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
      export const handler = () => client.send(new CreateTableCommand({ TableName: table.name }));`;
    expect(() => accessOf(body)).toThrow('CreateTableCommand of @aws-sdk/client-dynamodb: which permission');
  });
});
