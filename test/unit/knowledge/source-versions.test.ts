import type { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import { sourceVersions } from '../../../functions/knowledge/source-checks.ts';

it('a query for the texts of a deleted source has no empty key value, which DynamoDB rejects', async () => {
  const inputs: QueryCommand['input'][] = [];
  const client = {
    send: async ({ input }: QueryCommand) => {
      inputs.push(input);
      return { Items: [] };
    },
  } as unknown as Table['client'];
  const now = new Date();

  await sourceVersions({ client, name: 'Knowledge' }).removeAll({
    orgId: newId('org', now),
    generation: 0,
    id: newId('src', now),
  });

  expect(inputs).toHaveLength(1);
  expect(Object.values(inputs[0]?.ExpressionAttributeValues ?? {})).not.toContain('');
});
