import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  QueryCommand as PlainQueryCommand,
  ScanCommand as PlainScanCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll } from 'vitest';
import { fromCommand, toAnswer } from '../doubles/tables/attributes.ts';

const COMMANDS = [
  [GetItemCommand, GetCommand],
  [PutItemCommand, PutCommand],
  [UpdateItemCommand, UpdateCommand],
  [DeleteItemCommand, DeleteCommand],
  [PlainQueryCommand, QueryCommand],
  [PlainScanCommand, ScanCommand],
  [BatchGetItemCommand, BatchGetCommand],
  [BatchWriteItemCommand, BatchWriteCommand],
  [TransactWriteItemsCommand, TransactWriteCommand],
] as const;

/**
 * A mock of the functions' DynamoDB client, whose commands are expected and answered as those of
 * lib-dynamodb: with rows as JavaScript has them.
 */
export function mockedDynamoDb() {
  const documents = mockClient(DynamoDBDocumentClient);
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const plain = mockClient(DynamoDBClient);
  for (const [Plain, Command] of COMMANDS)
    plain.on(Plain as never).callsFake(async (input: object) => {
      const answer = await client.send(new Command(fromCommand(input) as never) as never);
      return toAnswer(Object(answer));
    });
  afterAll(() => {
    plain.restore();
    documents.restore();
  });
  return documents;
}
