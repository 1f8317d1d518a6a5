import { isDeepStrictEqual } from 'node:util';
import type { TableDescription } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import type { Resource, Template } from '../template/template.ts';

/** The tables of one region or several, which are the same here. */
export const listTables = (template: Template): Resource[] =>
  ['AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable'].flatMap(template.ofType);

const KeySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));

const Projection = z.object({
  ProjectionType: z.enum(['ALL', 'KEYS_ONLY', 'INCLUDE']),
  NonKeyAttributes: z.array(z.string()).optional(),
});

/** Resolved properties of a table. */
export const TableDefinition = z.object({
  TableName: z.string().optional(),
  AttributeDefinitions: z.array(
    z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) }),
  ),
  KeySchema,
  GlobalSecondaryIndexes: z.array(z.object({ IndexName: z.string(), KeySchema, Projection })).optional(),
  StreamSpecification: z
    .object({ StreamViewType: z.enum(['KEYS_ONLY', 'NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES']) })
    .optional(),
  TimeToLiveSpecification: z
    .object({ AttributeName: z.string().optional(), Enabled: z.boolean() })
    .optional(),
});
export type TableDefinition = z.infer<typeof TableDefinition>;

/** Differences of an existing table that cannot be changed in place; empty if none. */
export function differences(wanted: TableDefinition, existing: TableDescription): string[] {
  const present = {
    keys: keyNames(existing.KeySchema),
    indexes: indexesByName(existing.GlobalSecondaryIndexes),
    stream: existing.StreamSpecification?.StreamViewType,
  };
  const defined = {
    keys: keyNames(wanted.KeySchema),
    indexes: indexesByName(wanted.GlobalSecondaryIndexes),
    stream: wanted.StreamSpecification?.StreamViewType,
  };
  return (['keys', 'indexes', 'stream'] as const).filter(
    (part) => !isDeepStrictEqual(present[part], defined[part]),
  );
}

type Keys = readonly { AttributeName?: string | undefined; KeyType?: string | undefined }[] | undefined;

interface Index {
  IndexName?: string | undefined;
  KeySchema?: Keys;
  Projection?:
    | { ProjectionType?: string | undefined; NonKeyAttributes?: readonly string[] | undefined }
    | undefined;
}

const keyNames = (keys: Keys = []) =>
  keys.map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName}`).sort();

function indexesByName(indexes: readonly Index[] = []): Map<string, unknown> {
  return new Map(
    indexes.map(({ IndexName = '', KeySchema, Projection }) => [
      IndexName,
      {
        keys: keyNames(KeySchema),
        projection: Projection?.ProjectionType,
        attributes: [...(Projection?.NonKeyAttributes ?? [])].sort(),
      },
    ]),
  );
}
