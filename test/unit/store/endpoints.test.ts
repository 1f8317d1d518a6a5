import 'aws-sdk-client-mock-vitest/extend';
import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { SLOW_SECONDS } from '../../../functions/domain/lanes.ts';
import { endpointChange, endpointStore } from '../../../functions/store/endpoints.ts';
import { keys } from '../../../functions/store/keys.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const service = { client: DynamoDBDocumentClient.from(new DynamoDBClient({})), name: 'service' };
const endpoints = endpointStore(service);
const endpoint = anEndpoint();
const key = keys.endpoint(endpoint.orgId, endpoint.id);
const countKey = keys.endpointCount(endpoint.orgId);

beforeEach(() => {
  dynamo.reset();
});

describe('adding an endpoint', () => {
  it('counts it within the limit, and adds it unless it is there', () => {
    expect(endpoints.add(endpoint)).toMatchObject([
      {
        refusal: 'endpoint-limit',
        write: {
          Update: {
            Key: countKey,
            ConditionExpression: 'attribute_not_exists(endpoints) OR endpoints < :limit',
            ExpressionAttributeValues: { ':one': 1, ':limit': 50 },
          },
        },
      },
      {
        refusal: 'exists',
        write: { Put: { Item: { ...key, ...endpoint }, ConditionExpression: 'attribute_not_exists(pk)' } },
      },
    ]);
  });

  it('stores no secret', () => {
    expect(JSON.stringify(endpoints.add(endpoint))).not.toMatch(/whsec_|secret/i);
  });
});

describe('removing an endpoint', () => {
  it('uncounts it only if it was there', () => {
    expect(endpoints.remove(endpoint.orgId, endpoint.id)).toMatchObject([
      {
        refusal: 'endpoint-missing',
        write: { Delete: { Key: key, ConditionExpression: 'attribute_exists(pk)' } },
      },
      {
        refusal: 'endpoint-missing',
        write: { Update: { Key: countKey, ConditionExpression: 'endpoints > :zero' } },
      },
    ]);
  });
});

describe('updating an endpoint', () => {
  it('writes the given fields and no others, and only to an endpoint that is there', async () => {
    dynamo.on(UpdateCommand).resolves({ Attributes: { ...key, ...endpoint } });
    expect(await endpoints.update(endpoint.orgId, endpoint.id, { url: 'https://new.example.com/' })).toEqual(
      endpoint,
    );
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(UpdateCommand, {
      Key: key,
      UpdateExpression: 'SET #url = :url',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':url': 'https://new.example.com/' },
    });
  });

  it('reads it when there is nothing to write', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...key, ...endpoint } });
    const unchanged = await endpoints.update(endpoint.orgId, endpoint.id, {
      url: undefined,
      events: undefined,
    });
    expect(unchanged).toEqual(endpoint);
    expect(dynamo).not.toHaveReceivedCommand(UpdateCommand);
  });

  it('finds none that is gone', async () => {
    dynamo
      .on(UpdateCommand)
      .rejects(
        new ConditionalCheckFailedException({ message: 'The conditional request failed', $metadata: {} }),
      );
    expect(
      await endpoints.update(endpoint.orgId, endpoint.id, { events: ['ticket.created'] }),
    ).toBeUndefined();
  });

  it('throws every other failure', async () => {
    dynamo.on(UpdateCommand).rejects(new Error('throttled'));
    await expect(
      endpoints.update(endpoint.orgId, endpoint.id, { events: ['ticket.created'] }),
    ).rejects.toThrow('throttled');
  });
});

describe('reading endpoints', () => {
  it('looks within the organization alone, and consistently', async () => {
    dynamo.on(GetCommand).resolves({});
    dynamo.on(QueryCommand).resolves({ Items: [{ ...key, ...endpoint }] });
    expect(await endpoints.find(endpoint.orgId, endpoint.id)).toBeUndefined();
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(GetCommand, { Key: key, ConsistentRead: true });
    expect(await endpoints.all(endpoint.orgId)).toEqual([endpoint]);
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(QueryCommand, {
      ConsistentRead: true,
      ExpressionAttributeValues: { ':pk': keys.endpoints(endpoint.orgId) },
    });
  });

  it('gives no row that is none', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...key, ...endpoint, status: 'paused' } });
    await expect(endpoints.find(endpoint.orgId, endpoint.id)).rejects.toThrow();
  });
});

describe('marking an endpoint as slow', () => {
  const until = later(NOW, seconds(SLOW_SECONDS));

  it('writes only to one that is there and not marked for about as long already', async () => {
    dynamo.on(UpdateCommand).resolves({});
    await endpoints.markSlow(endpoint.orgId, endpoint.id, until);
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(UpdateCommand, {
      Key: key,
      UpdateExpression: 'SET slowUntil = :until',
      ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(slowUntil) OR slowUntil < :soon)',
      ExpressionAttributeValues: {
        ':until': until.toISOString(),
        ':soon': later(NOW, seconds(SLOW_SECONDS / 2)).toISOString(),
      },
    });
  });

  it('is done when it is marked already', async () => {
    dynamo
      .on(UpdateCommand)
      .rejects(
        new ConditionalCheckFailedException({ message: 'The conditional request failed', $metadata: {} }),
      );
    expect(await endpoints.markSlow(endpoint.orgId, endpoint.id, until)).toBeUndefined();
  });

  it('throws every other failure', async () => {
    dynamo.on(UpdateCommand).rejects(new Error('throttled'));
    await expect(endpoints.markSlow(endpoint.orgId, endpoint.id, until)).rejects.toThrow('throttled');
  });
});

describe('the effect of a delivery on its endpoint', () => {
  it.each(['reset', 'count', 'disable'] as const)('to %s leaves only an active endpoint', (effect) => {
    expect(endpointChange(service, endpoint, effect, NOW)).toMatchObject({
      refusal: 'endpoint-changed',
      write: {
        Update: {
          TableName: 'service',
          Key: key,
          ConditionExpression: expect.stringMatching(
            /^#status = :active AND attribute_not_exists\(streak\) AND consecutiveFailures /,
          ),
          ExpressionAttributeValues: { ':active': 'active' },
        },
      },
    });
  });

  it('counts up to the ninth failure, and disables at the tenth', () => {
    const updateOf = (effect: 'count' | 'disable') =>
      endpointChange(service, endpoint, effect, NOW).write.Update;
    expect(updateOf('count')).toMatchObject({
      ConditionExpression: expect.stringContaining('consecutiveFailures < :last'),
      ExpressionAttributeValues: { ':last': 9, ':one': 1 },
    });
    expect(updateOf('disable')).toMatchObject({
      ConditionExpression: expect.stringContaining('consecutiveFailures >= :last'),
      ExpressionAttributeValues: {
        ':last': 9,
        ':one': 1,
        ':disabled': 'auto_disabled',
        ':now': NOW.toISOString(),
      },
    });
  });
});
