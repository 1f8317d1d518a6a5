import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import { expect, it } from 'vitest';
import { sayingOneUserAgent, USER_AGENT } from '../../../functions/platform/clients/user-agent.ts';

type Headers = Record<string, string>;

/** Terms of a client whose requests end here. */
function recording(headers: Headers[]) {
  return {
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
  };
}

const CALLS: Record<string, (terms: ReturnType<typeof recording>) => Promise<unknown>> = {
  DynamoDB: (terms) =>
    sayingOneUserAgent(new DynamoDBClient(terms)).send(
      new GetItemCommand({ TableName: 't', Key: { pk: { S: 'x' } } }),
    ),
  SES: (terms) => sayingOneUserAgent(new SESv2Client(terms)).send(new SendEmailCommand({ Content: {} })),
};

it.each(Object.keys(CALLS))('each try of a request to %s says the same user agent', async (service) => {
  const headers: Headers[] = [];
  await CALLS[service]?.(recording(headers));
  expect(headers).toHaveLength(2);
  for (const sent of headers) {
    expect(sent['user-agent']).toBe(USER_AGENT);
    expect(sent['x-amz-user-agent']).toBeUndefined();
    expect(sent.authorization).toMatch(/SignedHeaders=[^,]*host/);
  }
});
