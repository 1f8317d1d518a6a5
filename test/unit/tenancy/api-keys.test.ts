import 'aws-sdk-client-mock-vitest/extend';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { apiKeyStore } from '../../../functions/tenancy/api-keys.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { anApiKey, later, NOW } from '../../builders.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';

const dynamo = mockedDynamoDb();
const service = { client: new DynamoDBClient({}), name: 'service' };
const apiKeys = apiKeyStore(service);
const key = anApiKey();
const digest = 'd'.repeat(64);
const rows = [keys.apiKey(digest), keys.listedApiKey(key.orgId, key.id)];

beforeEach(() => {
  dynamo.reset();
});

describe('stored API key', () => {
  it('is read consistently, so that its revocation applies to the next request', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...keys.apiKey(digest), ...key } });
    expect(await apiKeys.find(digest)).toEqual(key);
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(GetCommand, {
      Key: keys.apiKey(digest),
      ConsistentRead: true,
    });
  });

  it('cannot be read from a row of another form', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...keys.apiKey(digest), ...key, environment: 'test' } });
    await expect(apiKeys.find(digest)).rejects.toThrow();
  });

  it('is written in two places, each only when it is empty', () => {
    const changes = apiKeys.create(digest, key);
    expect(changes.map(({ write }) => write.Put)).toMatchObject(
      rows.map((row) => ({ Item: { ...row, ...key }, ConditionExpression: 'attribute_not_exists(pk)' })),
    );
  });
});

describe('revocation of an API key', () => {
  const listed = { ...keys.listedApiKey(key.orgId, key.id), ...key, digest };

  it('reads only within the organization, and consistently', async () => {
    dynamo.on(GetCommand).resolves({});
    expect(await apiKeys.revoke(key.orgId, key.id, NOW)).toEqual([]);
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(GetCommand, {
      Key: keys.listedApiKey(key.orgId, key.id),
      ConsistentRead: true,
    });
  });

  it('updates both rows, and only when they are not revoked', async () => {
    dynamo.on(GetCommand).resolves({ Item: listed });
    const changes = await apiKeys.revoke(key.orgId, key.id, NOW);
    expect(changes.map(({ write }) => write.Update)).toMatchObject(
      rows.map((Key) => ({
        Key,
        ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(revokedAt)',
      })),
    );
  });

  it('writes nothing when the key is revoked already', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...listed, revokedAt: NOW.toISOString() } });
    expect(await apiKeys.revoke(key.orgId, key.id, later(NOW, 1))).toEqual([]);
  });
});
