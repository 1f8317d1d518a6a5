import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { DUE_INDEX } from '../functions/tenancy/keys.ts';
import { OF_SANDBOX_INDEX } from '../functions/tenancy/purge.ts';

export type TableDefinition = Pick<
  CreateTableCommandInput,
  'AttributeDefinitions' | 'KeySchema' | 'GlobalSecondaryIndexes' | 'StreamSpecification'
>;
export type TableName =
  | 'service'
  | 'outbox'
  | 'deliveries'
  | 'rates'
  | 'ledger'
  | 'knowledge'
  | 'usage'
  | 'mailings';

const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const });
const partitionKey = (AttributeName: string) => ({ AttributeName, KeyType: 'HASH' as const });
const sortKey = (AttributeName: string) => ({ AttributeName, KeyType: 'RANGE' as const });

const byPartition: TableDefinition = {
  AttributeDefinitions: [text('pk')],
  KeySchema: [partitionKey('pk')],
};

/** For tables whose rows may belong to a sandbox. */
const ofSandbox = {
  attribute: text('ofSandbox'),
  index: {
    IndexName: OF_SANDBOX_INDEX,
    KeySchema: [partitionKey('ofSandbox')],
    Projection: { ProjectionType: 'KEYS_ONLY' as const },
  },
};

/**
 * The index of due rows by time, or by organization and time.
 * @param NonKeyAttributes further projected attributes
 */
const dueIndex = (by: 'dueAt' | 'dueKey', ...NonKeyAttributes: string[]) => ({
  IndexName: DUE_INDEX,
  KeySchema: [partitionKey('dueIn'), sortKey(by)],
  Projection: { ProjectionType: 'INCLUDE' as const, NonKeyAttributes },
});

const byPartitionAndSort: TableDefinition = {
  AttributeDefinitions: [text('pk'), text('sk'), ofSandbox.attribute],
  KeySchema: [partitionKey('pk'), sortKey('sk')],
  GlobalSecondaryIndexes: [ofSandbox.index],
};

const streamed: TableDefinition['StreamSpecification'] = { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' };

/** The stack's tables: their keys, indexes and streams. */
export const TABLE_DEFINITIONS: Record<TableName, TableDefinition> = {
  service: byPartitionAndSort,
  outbox: { ...byPartitionAndSort, StreamSpecification: streamed },
  deliveries: {
    AttributeDefinitions: [text('pk'), text('sk'), ofSandbox.attribute, text('dueIn'), text('dueKey')],
    KeySchema: [partitionKey('pk'), sortKey('sk')],
    GlobalSecondaryIndexes: [
      ofSandbox.index,
      // The fields of a delivery message; the delivery's identifier is the sort key. The projection of an
      // index cannot be changed (decision 14).
      dueIndex('dueKey', 'orgId', 'generation', 'webhookId', 'eventId', 'isDeferred'),
    ],
    StreamSpecification: streamed,
  },
  rates: byPartition,
  ledger: byPartitionAndSort,
  knowledge: {
    AttributeDefinitions: [text('pk'), text('sk'), ofSandbox.attribute, text('dueIn'), text('dueAt')],
    KeySchema: [partitionKey('pk'), sortKey('sk')],
    GlobalSecondaryIndexes: [ofSandbox.index, dueIndex('dueAt', 'orgId', 'generation')],
  },
  usage: {
    AttributeDefinitions: [text('pk'), text('sk')],
    KeySchema: [partitionKey('pk'), sortKey('sk')],
  },
  mailings: byPartition,
};
