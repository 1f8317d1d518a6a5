import { expect, it } from 'vitest';
import { TABLE_DEFINITIONS, type TableDefinition, type TableName } from '../table-definitions.ts';
import { all } from './reading.ts';
import { synthesize } from './synthesize.ts';

it("the tables of the contract tests have the keys, indexes and streams of the stack's", () => {
  const inStack = all(synthesize(), 'AWS::DynamoDB::GlobalTable').map(
    ([id, { Properties }]): [TableName, TableDefinition] => {
      const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, StreamSpecification } =
        Properties as unknown as TableDefinition;
      return [
        nameOf(id),
        {
          AttributeDefinitions,
          KeySchema,
          GlobalSecondaryIndexes,
          // A stream is implicit in a template that names a view type, and explicit in the API.
          StreamSpecification: StreamSpecification && { ...StreamSpecification, StreamEnabled: true },
        },
      ];
    },
  );

  expect(Object.fromEntries(inStack)).toEqual(TABLE_DEFINITIONS);
});

/** @returns the `outbox` of `TablesOutboxTable` with its hash */
function nameOf(id: string): TableName {
  const [, name = ''] = /^Tables(\w+?)Table[0-9A-F]{8}$/.exec(id) ?? [];
  return name.toLowerCase() as TableName;
}
