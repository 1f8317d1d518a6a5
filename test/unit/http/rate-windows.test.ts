import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { rateWindowStore } from '../../../functions/http/limiter.ts';
import { NOW } from '../../builders.ts';

const client = new DynamoDBClient({});
const dynamo = mockClient(client);
const bucket = { orgId: newId('org', NOW), kind: 'live' } as const;
const take = (timeoutMs: number) =>
  rateWindowStore({ client, name: 'rates' }, timeoutMs).take(bucket, 0, 1, 10);

beforeEach(() => {
  dynamo.reset();
});

it('counting a request is one write', async () => {
  dynamo.on(UpdateItemCommand).resolves({ Attributes: { used: { N: '3' } } });
  expect(await take(60_000)).toEqual({ used: 3 });
  expect(dynamo.calls()).toHaveLength(1);
});

it('a table that does not answer in time is an error, and its later answer nothing', async () => {
  const answer = Promise.withResolvers<never>();
  dynamo.on(UpdateItemCommand).callsFake(() => answer.promise);
  await expect(take(1)).rejects.toThrow('no response within 1 ms');
  answer.reject(new Error('throttled'));
});

it('a failing table is an error, not a full window', async () => {
  dynamo.on(UpdateItemCommand).rejects(new Error('throttled'));
  await expect(take(60_000)).rejects.toThrow('throttled');
});
