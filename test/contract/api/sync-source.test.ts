import { randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { sourceStore } from '../../../functions/knowledge/sources.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aSource } from '../../builders.ts';
import { rowsIn } from '../store/rows.ts';
import { useApi } from './owners.ts';

const { tables, api, commit, enrol } = useApi();

/** A source of an organization of its own. */
async function aSyncedSource() {
  const { tenant, secret } = await enrol();
  const { outbox, knowledge } = tables;
  const source = aSource(tenant);
  await commit(...sourceStore(knowledge).add(source));
  const ask = api.asker(secret);
  return {
    async sync(idempotencyKey?: string) {
      const key = idempotencyKey && { idempotencyKey };
      const { error, ...answer } = await ask('syncSource', { params: { id: source.id }, ...key });
      return { ...answer, type: Object(error).type };
    },
    /** Notices that request a check. */
    asked: async () =>
      (await rowsIn(outbox)).filter(({ type, orgId }) => type === 'source.check' && orgId === tenant.orgId)
        .length,
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
