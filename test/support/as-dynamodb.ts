import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { type KeysOf, refusalByDynamoDb, type TableKeys } from 'aws-local/permissions/dynamodb-rules.ts';
import { TABLE_DEFINITIONS, type TableDefinition, type TableName } from '../table-definitions.ts';

const names = (keys: TableDefinition['KeySchema'] = []): string[] =>
  keys.map(({ AttributeName = '' }) => AttributeName);

const keysOfDefinition = (definition: TableDefinition): TableKeys => ({
  key: names(definition.KeySchema),
  indexes: (definition.GlobalSecondaryIndexes ?? []).map(({ IndexName = '', KeySchema }) => ({
    name: IndexName,
    key: names(KeySchema),
  })),
});

/** The keys of a test's table, which is named `service-<run>`. */
const keysOfTestTable: KeysOf = (table) => {
  const [name = ''] = table.slice(table.lastIndexOf('/') + 1).split('-', 1);
  return Object.hasOwn(TABLE_DEFINITIONS, name)
    ? keysOfDefinition(TABLE_DEFINITIONS[name as TableName])
    : undefined;
};

/** Makes a client refuse requests that DynamoDB refuses, because the engine may accept them. */
export function refuseAsDynamoDb<C extends DynamoDBClient | DynamoDBStreamsClient>(
  client: C,
  keysOf: KeysOf = keysOfTestTable,
): C {
  // The two clients have types of their own for one shape.
  const { middlewareStack } = client as DynamoDBClient;
  middlewareStack.add(
    (next) => async (args) => {
      const { headers, body } = args.request as {
        headers: Record<string, string>;
        body: string | Uint8Array;
      };
      const request = JSON.parse(Buffer.from(body).toString());
      const refusal = refusalByDynamoDb(headers['x-amz-target'] ?? '', request, keysOf);
      if (refusal !== undefined)
        throw Object.assign(new Error(refusal), {
          name: 'ValidationException',
          $fault: 'client',
          $metadata: { httpStatusCode: 400 },
        });
      return next(args);
    },
    { step: 'build', priority: 'low', name: 'refuseAsDynamoDb' },
  );
  return client;
}
