import { type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';
import { onTestFinished } from 'vitest';
import { startDynamoDb } from '../../src/engines/dynamodb.ts';
import { provisionTables } from '../../src/provision/provision.ts';
import { dynamoDbClient, streamsClient } from './clients.ts';
import { aTemplate, TABLE } from './fixture.ts';
import { stateDirectory } from './state-directory.ts';

export const now = new Date();
export const inSeconds = (seconds: number) => ({ N: String(Math.floor(now.getTime() / 1_000) + seconds) });
export const key = (id: string) => ({ pk: { S: id }, sk: { S: 'a "quoted" é key' } });

export const put = (client: DynamoDBClient, id: string, attributes = {}) =>
  client.send(
    new PutItemCommand({ TableName: TABLE, Item: { ...key(id), kind: { S: 'event' }, ...attributes } }),
  );

export const exists = async (client: DynamoDBClient, id: string) =>
  (await client.send(new GetItemCommand({ TableName: TABLE, Key: key(id) }))).Item !== undefined;

export async function start(directory: string) {
  const engine = await startDynamoDb({ directory });
  onTestFinished(() => engine.stop());
  return { engine, client: dynamoDbClient(engine.endpoint) };
}

export async function startWithTable(directory = stateDirectory()) {
  const { engine, client } = await start(directory);
  const { template, references } = aTemplate();
  await provisionTables(template, references, client);
  return { engine, client, streamArn: String(references.resolve({ 'Fn::GetAtt': ['Events', 'StreamArn'] })) };
}

export async function streamRecords(endpoint: string, StreamArn: string): Promise<StreamRecord[]> {
  const client = streamsClient(endpoint);
  const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
  const ShardId = StreamDescription?.Shards?.[0]?.ShardId;
  const { ShardIterator } = await client.send(
    new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }),
  );
  return (await client.send(new GetRecordsCommand({ ShardIterator }))).Records ?? [];
}

export const keysOf = (records: StreamRecord[]) => records.map(({ dynamodb }) => dynamodb?.Keys?.pk?.S);

export const numbersOf = (records: StreamRecord[]) =>
  records.map(({ dynamodb }) => BigInt(dynamodb?.SequenceNumber ?? 0));
