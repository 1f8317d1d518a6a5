import { randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { expect, it, onTestFinished, vi } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { buildAddition, committer } from '../../../functions/aws/transaction.ts';
import { sourceStore } from '../../../functions/knowledge/sources.ts';
import { generateApiKey, hashApiKey } from '../../../functions/tenancy/api-keys.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aSource, aTenant, NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { aGatewayEvent, FUNCTION_ENVIRONMENT, INVOCATION } from '../../support/functions.ts';
import { addressOf } from '../store/conversation-service.ts';
import { rowsIn } from '../store/rows.ts';

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

const engine = dynamoDb();

/** A source, and the function that requests its checks as Lambda runs it. */
async function aSyncedSource() {
  const { service, outbox, rates, knowledge } = await engine.createdTables();
  const tenant = aTenant();
  const secret = generateApiKey('live');
  const source = aSource(tenant);
  await committer(service.client)([
    ...sourceStore(knowledge).add(source),
    buildAddition(service, {
      ...keys.organization(tenant.orgId),
      id: tenant.orgId,
      name: 'An organization',
      environment: 'live',
      tier: 'scale',
      createdAt: NOW.toISOString(),
    }),
    buildAddition(service, {
      ...keys.apiKey(hashApiKey(secret)),
      id: newId('key', NOW),
      orgId: tenant.orgId,
      environment: 'live',
      name: 'A key',
      scopes: ['write:knowledge'],
      createdAt: NOW.toISOString(),
    }),
  ]);
  const environment = {
    ...FUNCTION_ENVIRONMENT,
    AWS_ENDPOINT_URL_DYNAMODB: await addressOf(engine),
    LOG_LEVEL: 'SILENT',
    SERVICE_TABLE: service.name,
    OUTBOX_TABLE: outbox.name,
    RATE_TABLE: rates.name,
    KNOWLEDGE_TABLE: knowledge.name,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  vi.resetModules();
  const { handler } = (await import('../../../functions/api/knowledge/sync-source.ts')) as {
    handler: Handler;
  };
  const { tables } = await import('../../../functions/api/route-handler.ts');
  onTestFinished(() => {
    tables.service.client.destroy();
    vi.unstubAllEnvs();
  });

  return {
    async sync(idempotencyKey?: string) {
      const {
        statusCode,
        headers = {},
        body,
      } = await handler(
        aGatewayEvent({
          path: `/api/v1/knowledge/sources/${source.id}/sync`,
          resource: '/v1/knowledge/sources/{id}/sync',
          pathParameters: { id: source.id },
          headers: {
            Authorization: `Bearer ${secret}`,
            ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
          },
        }),
        INVOCATION,
      );
      return { status: statusCode, headers, type: JSON.parse(body).error?.type };
    },
    /** Notices that request a check. */
    asked: async () => (await rowsIn(outbox)).filter(({ type }) => type === 'source.check').length,
    /** Sets the time of the last sync. */
    async syncedBefore(seconds: number) {
      await knowledge.client.send(
        new UpdateCommand({
          TableName: knowledge.name,
          Key: keys.source(tenant, source.id),
          UpdateExpression: 'SET syncedAt = :at',
          ExpressionAttributeValues: { ':at': new Date(Date.now() - seconds * 1000).toISOString() },
        }),
      );
    },
  };
}

it('a sync after a concurrent one has to wait for the cooldown at most', async () => {
  const { sync, syncedBefore } = await aSyncedSource();
  // The other request read its clock later, or on a machine whose clock runs ahead.
  await syncedBefore(-5);
  const { status, headers } = await sync();
  expect([status, headers['Retry-After']]).toEqual([429, '60']);
});

it('a source is synced once within its cooldown by many requests at once', async () => {
  const { sync, asked, syncedBefore } = await aSyncedSource();

  const answers = await Promise.all(Array.from({ length: 6 }, () => sync()));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 429, 429, 429, 429, 429]);
  for (const { status, headers, type } of answers) {
    if (status === 202) continue;
    expect(type).toBe('RATE_LIMITED');
    expect(Number(headers['Retry-After'])).toBeGreaterThanOrEqual(1);
    expect(Number(headers['Retry-After'])).toBeLessThanOrEqual(60);
  }
  expect(await asked()).toBe(1);

  await syncedBefore(61);
  expect((await sync()).status).toBe(202);
  expect(await asked()).toBe(2);
});

it('a sync repeated with its idempotency key has the first answer, and with a new key is refused', async () => {
  const { sync, asked } = await aSyncedSource();
  const [key, other] = [randomUUID(), randomUUID()];
  expect((await sync(key)).status).toBe(202);
  for (let times = 1; times <= 2; times += 1)
    expect(await sync(key)).toMatchObject({ status: 202, headers: { 'Idempotency-Replayed': 'true' } });
  for (let times = 1; times <= 2; times += 1) expect((await sync(other)).status).toBe(429);
  expect(await asked()).toBe(1);
});
