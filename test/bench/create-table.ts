import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { TABLE_DEFINITIONS, type TableName } from '../table-definitions.ts';

/** Creates a table of the stack, without its stream, which nothing reads: unread records are kept. */
export async function createTable(client: DynamoDBClient, name: TableName): Promise<void> {
  const { StreamSpecification: _, ...definition } = TABLE_DEFINITIONS[name];
  await client.send(
    new CreateTableCommand({ TableName: name, BillingMode: 'PAY_PER_REQUEST', ...definition }),
  );
}
