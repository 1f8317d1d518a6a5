import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { keyUseStore } from '../../../functions/tenancy/api-keys.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { anApiKey, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';

const engine = dynamoDb();
const PATIENT_MS = 20_000;
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
    await uses.note(used, NOW, PATIENT_MS);
    await uses.note(foreign, NOW, PATIENT_MS);
    for (const at of [NOW, later(NOW, seconds(300))]) await uses.note(often, at, PATIENT_MS);
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
    await Promise.all(all.map((key) => uses.note(key, NOW, PATIENT_MS)));
    expect(
      (
        await uses.read(
          orgId,
          all.map(({ id }) => id),
        )
      ).size,
    ).toBe(100);
    expect((await uses.read(orgId, [])).size).toBe(0);
  });

  it('outlive rate windows and expire after a year', async () => {
    const { rates, uses } = await someUses();
    const key = anApiKey({ orgId });
    await uses.note(key, NOW, PATIENT_MS);
    const { Item } = await rates.client.send(
      new GetCommand({ TableName: rates.name, Key: keys.keyUse(orgId, key.id), ConsistentRead: true }),
    );
    expect(Item?.expiresAt).toBe(NOW.getTime() / 1000 + 365 * 86_400);
  });
});
