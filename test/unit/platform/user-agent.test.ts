import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { sayingOneUserAgent, USER_AGENT } from '../../../functions/platform/clients/prepared.ts';

type Headers = Record<string, string>;

it('each try of a request says the same user agent', async () => {
  const headers: Headers[] = [];
  const client = sayingOneUserAgent(
    new DynamoDBClient({
      region: 'us-east-1',
      credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
      maxAttempts: 2,
      requestHandler: {
        handle: async (request: { headers: Headers }) => {
          headers.push(request.headers);
          const statusCode = headers.length === 1 ? 500 : 200;
          return { response: { statusCode, headers: {}, body: Buffer.from('{}') } };
        },
      },
    }),
  );
  await client.send(new GetItemCommand({ TableName: 't', Key: { pk: { S: 'x' } } }));
  expect(headers).toHaveLength(2);
  for (const sent of headers) {
    expect(sent['user-agent']).toBe(USER_AGENT);
    expect(sent['x-amz-user-agent']).toBeUndefined();
    expect(sent.authorization).toMatch(/SignedHeaders=[^,]*host/);
  }
});
