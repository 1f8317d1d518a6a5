import 'aws-sdk-client-mock-vitest/extend';
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { SLOW_SECONDS } from '../../../functions/domain/lanes.ts';
import { buildEndpointChange, endpointStore } from '../../../functions/store/endpoints.ts';
import { keys } from '../../../functions/store/keys.ts';
import { Contended } from '../../../functions/store/transaction.ts';
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
  dynamo.on(TransactWriteCommand).resolves({});
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

describe('removal of an endpoint', () => {
  it.each([
    [3, { Update: { ConditionExpression: 'endpoints > :zero' } }],
    [1, { Delete: { ConditionExpression: 'endpoints = :one' } }],
  ])('decrements the counts only if it existed at its host, which has %i', async (left, ofHost) => {
    isRead('receiver.example.com', left);
    expect(await endpoints.remove(endpoint.orgId, endpoint.id, NOW)).toEqual({ kind: 'committed' });
    expect(dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems).toMatchObject([
      { Delete: { Key: key, ConditionExpression: 'countedHost = :counted' } },
      { Update: { Key: countKey, ConditionExpression: 'endpoints > :zero' } },
      ofHost,
      REMAINS,
    ]);
  });

  it("decrements no host's count for an item of an older version", async () => {
    isRead(undefined);
    await endpoints.remove(endpoint.orgId, endpoint.id, NOW);
    expect(dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems).toMatchObject([
      {
        Delete: {
          ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(countedHost)',
        },
      },
      { Update: { Key: countKey } },
      REMAINS,
    ]);
  });

  it('removes an endpoint that cannot be read, which leaves nothing', async () => {
    dynamo.on(GetCommand, { Key: key }).resolves({ Item: { ...key, ...endpoint, url: 7 } });
    dynamo.on(TransactWriteCommand).resolves({});
    await endpoints.remove(endpoint.orgId, endpoint.id, NOW);
    expect(dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems).toHaveLength(2);
  });

  it('writes nothing when the endpoint is gone', async () => {
    dynamo.on(GetCommand).resolves({});
    expect(await endpoints.remove(endpoint.orgId, endpoint.id, NOW)).toEqual({
      kind: 'refused',
      refusal: 'endpoint-missing',
    });
    expect(dynamo).not.toHaveReceivedCommand(TransactWriteCommand);
  });

  it('fails when another change always comes first', async () => {
    isRead('receiver.example.com');
    dynamo.on(TransactWriteCommand).rejects(
      new TransactionCanceledException({
        message: '',
        $metadata: {},
        CancellationReasons: [{ Code: 'ConditionalCheckFailed' }],
      }),
    );
    await expect(endpoints.remove(endpoint.orgId, endpoint.id, NOW)).rejects.toThrow(Contended);
    await expect(
      endpoints.update(endpoint.orgId, endpoint.id, { url: 'https://new.example.com/' }),
    ).resolves.toBe('full');
  });
});

describe('update of an endpoint', () => {
  it('writes only the given fields, and only to an existing endpoint', async () => {
    isRead('receiver.example.com');
    dynamo.on(UpdateCommand).resolves({ Attributes: { ...key, ...endpoint } });
    const url = 'https://receiver.example.com/new';
    expect(await endpoints.update(endpoint.orgId, endpoint.id, { url })).toEqual(endpoint);
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(UpdateCommand, {
      Key: key,
      UpdateExpression: 'SET #url = :url, #unproven = :unproven, countedHost = :to',
      ConditionExpression: 'countedHost = :counted',
      ExpressionAttributeValues: {
        ':url': url,
        ':unproven': true,
        ':counted': 'receiver.example.com',
        ':to': 'receiver.example.com',
      },
    });
    await endpoints.update(endpoint.orgId, endpoint.id, { events: ['ticket.created'] });
    expect(dynamo).toHaveReceivedLastCommandWith(UpdateCommand, {
      UpdateExpression: 'SET #events = :events',
      ConditionExpression: 'attribute_exists(pk)',
    });
  });

  it('reads the endpoint when there is nothing to write', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...key, ...endpoint } });
    const unchanged = await endpoints.update(endpoint.orgId, endpoint.id, {
      url: undefined,
      events: undefined,
    });
    expect(unchanged).toEqual(endpoint);
    expect(dynamo).not.toHaveReceivedCommand(UpdateCommand);
  });

  it('returns undefined when the endpoint is gone', async () => {
    dynamo
      .on(UpdateCommand)
      .rejects(
        new ConditionalCheckFailedException({ message: 'The conditional request failed', $metadata: {} }),
      );
    expect(
      await endpoints.update(endpoint.orgId, endpoint.id, { events: ['ticket.created'] }),
    ).toBeUndefined();
  });

  it('throws any other error', async () => {
    dynamo.on(UpdateCommand).rejects(new Error('throttled'));
    await expect(
      endpoints.update(endpoint.orgId, endpoint.id, { events: ['ticket.created'] }),
    ).rejects.toThrow('throttled');
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
