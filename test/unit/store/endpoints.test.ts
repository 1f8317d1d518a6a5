import 'aws-sdk-client-mock-vitest/extend';
import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../functions/domain/endpoint.ts';
import { SLOW_SECONDS } from '../../../functions/domain/lanes.ts';
import { buildEndpointChange } from '../../../functions/store/endpoint-state.ts';
import { endpointStore } from '../../../functions/store/endpoints.ts';
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

describe('addition of an endpoint', () => {
  it('counts it within the limit, and adds it unless it exists', () => {
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
        refusal: 'endpoint-host-limit',
        write: {
          Update: {
            Key: keys.endpointHostCount(endpoint.orgId, 'receiver.example.com'),
            ConditionExpression: 'attribute_not_exists(endpoints) OR endpoints < :limit',
            ExpressionAttributeValues: { ':one': 1, ':limit': 10 },
          },
        },
      },
      {
        refusal: 'exists',
        write: {
          Put: {
            Item: { ...key, ...endpoint, countedHost: 'receiver.example.com' },
            ConditionExpression: 'attribute_not_exists(pk)',
          },
        },
      },
    ]);
  });

  it('counts no host for a loopback URL', () => {
    for (const url of ['https://localhost:8443/', 'https://127.0.0.2/', 'https://[::1]/'])
      expect(endpoints.add({ ...endpoint, url })).toHaveLength(2);
  });

  it('stores no secret', () => {
    expect(JSON.stringify(endpoints.add(endpoint))).not.toMatch(/whsec_|secret/i);
  });
});

/** Makes the table return this endpoint, counted at a host, and the count of that host. */
const isRead = (countedHost: string | undefined, left = 3): void => {
  dynamo.on(GetCommand, { Key: key }).resolves({ Item: { ...key, ...endpoint, countedHost } });
  if (countedHost !== undefined)
    dynamo
      .on(GetCommand, { Key: keys.endpointHostCount(endpoint.orgId, countedHost) })
      .resolves({ Item: { endpoints: left } });
};

/** What the deletion leaves: the URL and the times, but no subscriptions and no key version. */
const REMAINS = {
  Put: {
    Item: {
      pk: `${endpoint.orgId}#deleted-webhooks`,
      sk: `${NOW.toISOString()}#${endpoint.id}`,
      id: endpoint.id,
      url: endpoint.url,
      createdAt: endpoint.createdAt,
      deletedAt: NOW.toISOString(),
      expiresAt: later(NOW, seconds(31 * 86_400)).getTime() / 1000,
    },
  },
};

const SETTINGS = ['url', 'events', 'description'];

async function found() {
  const read = await endpoints.findToChange(endpoint.orgId, endpoint.id);
  if (read === undefined) throw new Error('the endpoint was to be read');
  return read;
}

const removalWrites = async () =>
  endpoints.buildRemoval(await found(), SETTINGS, NOW).map(({ write }) => write);

describe('removal of an endpoint', () => {
  it.each([
    [3, { Update: { ConditionExpression: 'endpoints > :zero' } }],
    [1, { Delete: { ConditionExpression: 'endpoints = :one' } }],
  ])('decrements the counts only if it is at its host as read, which has %i', async (left, ofHost) => {
    isRead('receiver.example.com', left);
    expect(await removalWrites()).toMatchObject([
      {
        Delete: {
          Key: key,
          ConditionExpression:
            'countedHost = :counted AND #url = :urlWasRead AND #events = :eventsWasRead AND attribute_not_exists(#description)',
          ExpressionAttributeNames: { '#url': 'url', '#events': 'events', '#description': 'description' },
          ExpressionAttributeValues: { ':urlWasRead': endpoint.url, ':eventsWasRead': endpoint.events },
        },
      },
      { Update: { Key: countKey, ConditionExpression: 'endpoints > :zero' } },
      ofHost,
      REMAINS,
    ]);
  });

  it("decrements no host's count for an item of an older version", async () => {
    isRead(undefined);
    expect(await removalWrites()).toMatchObject([
      {
        Delete: {
          ConditionExpression: expect.stringMatching(
            /^attribute_exists\(pk\) AND attribute_not_exists\(countedHost\) AND /,
          ),
        },
      },
      { Update: { Key: countKey } },
      REMAINS,
    ]);
  });

  it('removes an endpoint that cannot be read, which leaves nothing', async () => {
    dynamo.on(GetCommand, { Key: key }).resolves({ Item: { ...key, ...endpoint, url: 7 } });
    expect(await removalWrites()).toHaveLength(2);
  });
});

describe('update of an endpoint', () => {
  const updateWrites = async (settings: Partial<Pick<Endpoint, 'url' | 'events'>>) =>
    endpoints.buildUpdate(await found(), settings).map(({ write }) => write);

  it('writes only the given fields, on condition that they did not change', async () => {
    isRead('receiver.example.com');
    const url = 'https://receiver.example.com/new';
    expect(await updateWrites({ url })).toMatchObject([
      {
        Update: {
          Key: key,
          UpdateExpression: 'SET #url = :url, #unproven = :unproven, countedHost = :to',
          ConditionExpression: 'countedHost = :counted AND #url = :urlWasRead',
          ExpressionAttributeValues: {
            ':url': url,
            ':urlWasRead': endpoint.url,
            ':unproven': true,
            ':counted': 'receiver.example.com',
            ':to': 'receiver.example.com',
          },
        },
      },
    ]);
    expect(await updateWrites({ events: ['ticket.created'] })).toMatchObject([
      {
        Update: {
          UpdateExpression: 'SET #events = :events',
          ConditionExpression: 'attribute_exists(pk) AND #events = :eventsWasRead',
        },
      },
    ]);
  });

  it('keeps an endpoint proven whose URL stays the same', async () => {
    isRead('receiver.example.com');
    expect(await updateWrites({ url: endpoint.url })).toMatchObject([
      { Update: { UpdateExpression: 'SET #url = :url, countedHost = :to' } },
    ]);
  });

  it('finds no endpoint to change when it is gone', async () => {
    dynamo.on(GetCommand).resolves({});
    expect(await endpoints.findToChange(endpoint.orgId, endpoint.id)).toBeUndefined();
  });
});

describe('read of endpoints', () => {
  it('is limited to the organization, and consistent', async () => {
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

  it('fails for a row of another form', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...key, ...endpoint, status: 'paused' } });
    await expect(endpoints.find(endpoint.orgId, endpoint.id)).rejects.toThrow();
  });
});

describe('slow mark of an endpoint', () => {
  const until = later(NOW, seconds(SLOW_SECONDS));

  it('is written only to an existing endpoint whose mark ends much earlier', async () => {
    dynamo.on(UpdateCommand).resolves({});
    await endpoints.markSlow(endpoint.orgId, endpoint.id, until);
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(UpdateCommand, {
      Key: key,
      UpdateExpression: 'SET slowUntil = :until, unproven = :true',
      ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(slowUntil) OR slowUntil < :soon)',
      ExpressionAttributeValues: {
        ':until': until.toISOString(),
        ':true': true,
        ':soon': later(NOW, seconds(SLOW_SECONDS / 2)).toISOString(),
      },
    });
  });

  it('needs no write when the endpoint is marked already', async () => {
    dynamo
      .on(UpdateCommand)
      .rejects(
        new ConditionalCheckFailedException({ message: 'The conditional request failed', $metadata: {} }),
      );
    expect(await endpoints.markSlow(endpoint.orgId, endpoint.id, until)).toBeUndefined();
  });

  it('throws any other error', async () => {
    dynamo.on(UpdateCommand).rejects(new Error('throttled'));
    await expect(endpoints.markSlow(endpoint.orgId, endpoint.id, until)).rejects.toThrow('throttled');
  });
});

describe('effect of a delivery on its endpoint', () => {
  it.each(['reset', 'count', 'disable'] as const)('of kind %s leaves only an active endpoint', (effect) => {
    expect(buildEndpointChange(service, endpoint, effect, NOW)).toMatchObject({
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
    const buildUpdate = (effect: 'count' | 'disable') =>
      buildEndpointChange(service, endpoint, effect, NOW).write.Update;
    expect(buildUpdate('count')).toMatchObject({
      ConditionExpression: expect.stringContaining('consecutiveFailures < :last'),
      ExpressionAttributeValues: { ':last': 9, ':one': 1 },
    });
    expect(buildUpdate('disable')).toMatchObject({
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
