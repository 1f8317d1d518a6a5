import 'aws-sdk-client-mock-vitest/extend';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { apiKeyStore } from '../../../functions/store/api-keys.ts';
import { keys } from '../../../functions/store/keys.ts';
import { anApiKey, later, NOW } from '../../builders.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const service = { client: DynamoDBDocumentClient.from(new DynamoDBClient({})), name: 'service' };
const apiKeys = apiKeyStore(service);
const key = anApiKey();
const digest = 'd'.repeat(64);
const rows = [keys.apiKey(digest), keys.listedApiKey(key.orgId, key.id)];

beforeEach(() => {
  dynamo.reset();
});

describe('a key', () => {
  it('is looked up consistently, so that the next request knows of its revocation', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...keys.apiKey(digest), ...key } });
    expect(await apiKeys.find(digest)).toEqual(key);
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(GetCommand, {
      Key: keys.apiKey(digest),
      ConsistentRead: true,
    });
  });

  it('is no row that is none', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...keys.apiKey(digest), ...key, environment: 'test' } });
    await expect(apiKeys.find(digest)).rejects.toThrow();
  });

  it('is written in both places, each only where nothing is', () => {
    const changes = apiKeys.create(digest, key);
    expect(changes.map(({ write }) => write.Put)).toMatchObject(
      rows.map((row) => ({ Item: { ...row, ...key }, ConditionExpression: 'attribute_not_exists(pk)' })),
    );
  });
});

describe('revoking a key', () => {
  const listed = { ...keys.listedApiKey(key.orgId, key.id), ...key, digest };

  it('reads within the organization alone, and consistently', async () => {
    dynamo.on(GetCommand).resolves({});
    expect(await apiKeys.revoke(key.orgId, key.id, NOW)).toEqual([]);
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(GetCommand, {
      Key: keys.listedApiKey(key.orgId, key.id),
      ConsistentRead: true,
    });
  });

  it('changes both rows, and only those that are there', async () => {
    dynamo.on(GetCommand).resolves({ Item: listed });
    const changes = await apiKeys.revoke(key.orgId, key.id, NOW);
    expect(changes.map(({ write }) => write.Update)).toMatchObject(
      rows.map((Key) => ({
        Key,
        UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :now)',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':now': NOW.toISOString() },
      })),
    );
  });

  it('writes nothing when it is revoked already', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...listed, revokedAt: NOW.toISOString() } });
    expect(await apiKeys.revoke(key.orgId, key.id, later(NOW, 1))).toEqual([]);
  });
});
