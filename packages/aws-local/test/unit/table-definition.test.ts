import type { Projection, TableDescription } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { differences, type TableDefinition } from '../../src/provision/table-definition.ts';

const definition = {
  AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'due',
      KeySchema: [{ AttributeName: 'kind', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['a', 'b'] },
    },
  ],
  StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
} satisfies TableDefinition;

const existing: TableDescription = {
  ...definition,
  StreamSpecification: { StreamEnabled: true, ...definition.StreamSpecification },
};
const [index] = definition.GlobalSecondaryIndexes;

const withProjection = (Projection: Projection) => ({ GlobalSecondaryIndexes: [{ ...index, Projection }] });
const reordered = withProjection({ ProjectionType: 'INCLUDE', NonKeyAttributes: ['b', 'a'] });

const changes: [part: string, change: TableDescription][] = [
  ['keys', { KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] }],
  ['indexes', { GlobalSecondaryIndexes: [] }],
  ['indexes', { GlobalSecondaryIndexes: [{ ...index, IndexName: 'other' }] }],
  ['indexes', withProjection({ ProjectionType: 'ALL' })],
  ['stream', { StreamSpecification: undefined }],
  ['stream', { StreamSpecification: { StreamEnabled: true, StreamViewType: 'OLD_IMAGE' } }],
];

describe('an existing table', () => {
  it('matches its definition in any order', () => {
    expect(differences(definition, existing)).toEqual([]);
    expect(differences(definition, { ...existing, ...reordered })).toEqual([]);
  });

  it.each(changes)('does not match with other %s', (part, change) => {
    expect(differences(definition, { ...existing, ...change })).toEqual([part]);
  });
});
