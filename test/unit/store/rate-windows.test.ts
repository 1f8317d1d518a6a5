import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, it } from 'vitest';
import { newId } from '../../../functions/domain/ids.ts';
import { rateWindowStore } from '../../../functions/store/rate-windows.ts';
import { NOW } from '../../builders.ts';

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const dynamo = mockClient(client);
const windows = rateWindowStore({ client, name: 'rates' });
const bucket = { orgId: newId('org', NOW), kind: 'live' } as const;

beforeEach(() => {
  dynamo.reset();
});

it('counting a request is one write, which is aborted when the table does not answer in time', async () => {
  dynamo.on(UpdateCommand).resolves({ Attributes: { used: 3 } });
  expect(await windows.take(bucket, 0, { tokens: 1, limit: 10, timeoutMs: 500 })).toEqual({ used: 3 });
  expect(dynamo.calls()).toHaveLength(1);
  const [, options]: unknown[] = dynamo.call(0).args;
  expect(options).toMatchObject({ abortSignal: expect.any(AbortSignal) });
});

it('a failing table is an error, not a full window', async () => {
  dynamo.on(UpdateCommand).rejects(new Error('throttled'));
  await expect(windows.take(bucket, 0, { tokens: 1, limit: 10, timeoutMs: 500 })).rejects.toThrow(
    'throttled',
  );
});
