import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { REGION, tableArn } from '../arns.ts';
import { LocalRunError } from '../errors.ts';
import type { References } from '../template/references.ts';
import type { Resource, Template } from '../template/template.ts';
import { physicalName } from './physical-name.ts';
import { parseProperties } from './properties.ts';
import { differences, listTables, TableDefinition } from './table-definition.ts';

/**
 * Creates missing tables with indexes, streams and times to live, and defines them in `references`: the name
 * as `Ref`, and `Arn` and `StreamArn`.
 * @throws LocalRunError when an existing table has other keys, indexes or stream settings
 */
export async function provisionTables(
  template: Template,
  references: References,
  client: DynamoDBClient,
): Promise<void> {
  await Promise.all(
    listTables(template).map((resource) => provisionTable(template, resource, references, client)),
  );
}

async function provisionTable(
  template: Template,
  resource: Resource,
  references: References,
  client: DynamoDBClient,
) {
  const definition = parseProperties(TableDefinition, resource, references);
  const name = physicalName(template, resource, definition.TableName);

  const existing = await describe(client, name);
  const differing = existing ? differences(definition, existing) : [];
  if (differing.length > 0) {
    throw new LocalRunError(
      `The table ${name} of an earlier run has other ${differing.join(' and ')} than the template: start with a new state directory`,
    );
  }
  const table =
    existing?.TableStatus === 'ACTIVE' ? existing : await create(client, name, definition, existing);
  await setTimeToLive(client, name, definition);

  references.define(resource.logicalId, {
    ref: name,
    attributes: {
      Arn: tableArn(name),
      ...(table.LatestStreamArn &&
        definition.StreamSpecification && { StreamArn: here(table.LatestStreamArn) }),
    },
  });
}

/**
 * The embedded engine puts its own name in place of the region, and reads only table and label of a stream's
 * ARN.
 */
const here = (streamArn: string) => streamArn.replace(':dynamodb:dynoxide:', `:dynamodb:${REGION}:`);

async function describe(client: DynamoDBClient, name: string): Promise<TableDescription | undefined> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    return Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

async function create(
  client: DynamoDBClient,
  name: string,
  definition: TableDefinition,
  existing: TableDescription | undefined,
): Promise<TableDescription> {
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, StreamSpecification } = definition;
  if (!existing) {
    await client.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions,
        KeySchema,
        GlobalSecondaryIndexes,
        ...(StreamSpecification && { StreamSpecification: { StreamEnabled: true, ...StreamSpecification } }),
      }),
    );
  }
  // The embedded engine is done at once; others take a few seconds.
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const table = await describe(client, name);
    if (table?.TableStatus === 'ACTIVE') return table;
    await sleep(attempt < 10 ? 5 : 100);
  }
  throw new LocalRunError(`The table ${name} did not become active`);
}

async function setTimeToLive(
  client: DynamoDBClient,
  name: string,
  definition: TableDefinition,
): Promise<void> {
  const wanted = definition.TimeToLiveSpecification;
  const { TimeToLiveDescription: actual } = await client.send(
    new DescribeTimeToLiveCommand({ TableName: name }),
  );
  const enabled = actual?.TimeToLiveStatus === 'ENABLED' || actual?.TimeToLiveStatus === 'ENABLING';

  // One attribute must be switched off before another is switched on.
  if (enabled && !(wanted?.Enabled && wanted.AttributeName === actual?.AttributeName)) {
    await updateTimeToLive(client, name, actual?.AttributeName, false);
  } else if (enabled) {
    return;
  }
  if (wanted?.Enabled) await updateTimeToLive(client, name, wanted.AttributeName, true);
}

async function updateTimeToLive(
  client: DynamoDBClient,
  name: string,
  attribute: string | undefined,
  enabled: boolean,
) {
  await client.send(
    new UpdateTimeToLiveCommand({
      TableName: name,
      TimeToLiveSpecification: { AttributeName: attribute, Enabled: enabled },
    }),
  );
}
