import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { rateWindowStore } from '../../../functions/http/limiter.ts';
import { getRateWindow } from '../../../functions/http/rate-limit.ts';
import { keyUseStore } from '../../../functions/tenancy/api-keys.ts';
import { keys, type RateBucket } from '../../../functions/tenancy/keys.ts';
import { anApiKey, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';

const engine = dynamoDb();
const { start } = getRateWindow(NOW);
const TIMEOUT_MS = 20_000;
const aBucket = (kind: RateBucket['kind'] = 'live'): RateBucket => ({ orgId: newId('org', NOW), kind });

async function someWindows() {
  const { rates } = await engine.tables();
  const windows = rateWindowStore(rates, TIMEOUT_MS);
  return {
    rates,
    windows,
    take: (bucket: RateBucket, limit: number, at = start, tokens = 1) =>
      windows.take(bucket, at, tokens, limit),
    add: (bucket: RateBucket, tokens: number) => windows.add(bucket, start, tokens),
  };
}

describe('a rate window', () => {
  it('with a limit of 60 is full for exactly one of 61 at once', async () => {
    const { take } = await someWindows();
    const bucket = aBucket();
    const results = await Promise.all(Array.from({ length: 61 }, () => take(bucket, 60)));
    const counted = results.flatMap((result) => (result === 'full' ? [] : [result.used]));
    expect(counted.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  });

  it('is counted separately for each organization, kind of caller and minute', async () => {
    const { take } = await someWindows();
    const [bucket, other] = [aBucket(), aBucket()];
    expect(await take(bucket, 1)).toEqual({ used: 1 });
    expect(await take(bucket, 1)).toBe('full');
    expect(await take(other, 1)).toEqual({ used: 1 });
    expect(await take({ ...bucket, kind: 'sandbox' }, 1)).toEqual({ used: 1 });
    expect(await take({ ...bucket, kind: 'dashboard' }, 1)).toEqual({ used: 1 });
    expect(await take(bucket, 1, start + 60)).toEqual({ used: 1 });
  });

  it('counts nothing once it is full, and expires', async () => {
    const { rates, take } = await someWindows();
    const bucket = aBucket();
    for (let times = 0; times < 5; times++) await take(bucket, 2);
    const { Item } = await rates.client.send(
      new GetCommand({ TableName: rates.name, Key: keys.rateWindow(bucket, start), ConsistentRead: true }),
    );
    expect(Item).toMatchObject({ used: 2, expiresAt: start + 3600 });
  });
});

describe('tokens of a rate window', () => {
  it('are taken in full while one is left, and can be added at any time', async () => {
    const { take, add } = await someWindows();
    const bucket = aBucket();
    expect(await take(bucket, 10, start, 7)).toEqual({ used: 7 });
    expect(await take(bucket, 10, start, 7)).toEqual({ used: 14 });
    expect(await take(bucket, 10, start, 7)).toBe('full');
    expect(await add(bucket, 5)).toEqual({ used: 19 });
    expect(await add(bucket, -10)).toEqual({ used: 9 });
    expect(await take(bucket, 10)).toEqual({ used: 10 });
  });
});

const orgId = newId('org', NOW);

async function someUses() {
  const { rates } = await engine.tables();
  return { rates, uses: keyUseStore(rates) };
}

describe('the last uses of keys', () => {
  it('are stored for each key, and absent for unused keys and those of other organizations', async () => {
    const { uses } = await someUses();
    const [used, often, unused, foreign] = [
      anApiKey({ orgId }),
      anApiKey({ orgId, environment: 'sandbox' }),
      anApiKey({ orgId }),
      anApiKey(),
    ];
    await uses.note(used, NOW, TIMEOUT_MS);
    await uses.note(foreign, NOW, TIMEOUT_MS);
    for (const at of [NOW, later(NOW, seconds(300))]) await uses.note(often, at, TIMEOUT_MS);
    const ids = [used, often, unused, foreign].map(({ id }) => id);
    expect(await uses.read(orgId, ids)).toEqual(
      new Map([
        [used.id, NOW.toISOString()],
        [often.id, later(NOW, seconds(300)).toISOString()],
      ]),
    );
  });

  it('are read for a whole page at once, and for an empty page', async () => {
    const { uses } = await someUses();
    const all = Array.from({ length: 100 }, () => anApiKey({ orgId }));
    await Promise.all(all.map((key) => uses.note(key, NOW, TIMEOUT_MS)));
    const ids = all.map(({ id }) => id);
    expect((await uses.read(orgId, ids)).size).toBe(100);
    expect((await uses.read(orgId, [])).size).toBe(0);
  });

  it('outlive rate windows and expire after a year', async () => {
    const { rates, uses } = await someUses();
    const key = anApiKey({ orgId });
    await uses.note(key, NOW, TIMEOUT_MS);
    const { Item } = await rates.client.send(
      new GetCommand({ TableName: rates.name, Key: keys.keyUse(orgId, key.id), ConsistentRead: true }),
    );
    expect(Item?.expiresAt).toBe(NOW.getTime() / 1000 + 365 * 86_400);
  });
});
