import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { UnreadableRow } from '../../../functions/aws/table.ts';
import { dueIndex } from '../../../functions/delivery/due-index.ts';
import { DEFAULT_GRACE_SECONDS } from '../../../functions/delivery/timing.ts';
import { dueSources } from '../../../functions/knowledge/sources.ts';
import { redeliveryJobs } from '../../../functions/redelivery/jobs.ts';
import { keys, listShards, PURGE_SHARDS } from '../../../functions/tenancy/keys.ts';
import { purgeStore } from '../../../functions/tenancy/purge.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';

const engine = dynamoDb();
const UNTIL = later(NOW, seconds(DEFAULT_GRACE_SECONDS));
const dueAt = NOW.toISOString();
const org = newId('org', NOW);

interface Reader {
  table: keyof TestTables;
  /** A valid row, and an invalid one that differs by a single field. */
  rows: [good: Record<string, unknown>, broken: { pk: string; sk?: string } & Record<string, unknown>];
  read(tables: TestTables): Promise<{ entries: unknown[]; unreadable?: readonly UnreadableRow[] }>;
}

const delivery = () => {
  const [webhookId, id] = [newId('whk', NOW), newId('dlv', NOW)];
  return {
    ...keys.delivery(webhookId, 0, id),
    orgId: org,
    generation: 0,
    webhookId,
    eventId: newId('evt', NOW),
    dueIn: keys.due('watched', 0),
    dueKey: keys.dueKey(org, dueAt),
  };
};
const source = () => {
  const id = newId('src', NOW);
  return {
    ...keys.source({ orgId: org, generation: 0 }, id),
    orgId: org,
    generation: 0,
    dueIn: keys.dueSources(0),
    dueAt,
  };
};
const run = () => {
  const id = newId('rdj', NOW);
  return {
    pk: keys.redeliveryRuns(0),
    sk: id,
    id,
    orgId: org,
    generation: 0,
    webhookId: newId('whk', NOW),
    remindedAt: dueAt,
  };
};
const order = () => ({
  ...keys.purge({ orgId: org, generation: 1 }),
  orgId: org,
  generation: 1,
  requestedAt: dueAt,
  deleted: 0,
});
const otherOrder = () => ({ ...order(), sk: `${order().sk}-broken`, requestedAt: 7 });

/** Readers of rows of many tenants at once, for scheduled work. */
const READERS: Record<string, Reader> = {
  'deliveries that are due': {
    table: 'deliveries',
    rows: [delivery(), { ...delivery(), eventId: 'broken' }],
    read: ({ deliveries }) => dueIndex(deliveries).find('watched', 0, UNTIL),
  },
  'sources that are due': {
    table: 'knowledge',
    rows: [source(), { ...source(), orgId: 'broken' }],
    read: ({ knowledge }) => dueSources(knowledge).find(0, UNTIL),
  },
  'redelivery jobs that run': {
    table: 'service',
    rows: [run(), { ...run(), webhookId: 'broken' }],
    read: ({ service }) => redeliveryJobs(service).findRuns(0, UNTIL),
  },
  'orders to purge': {
    table: 'service',
    rows: [order(), otherOrder()],
    async read({ service }) {
      const unreadable: UnreadableRow[] = [];
      const entries = await purgeStore(service).open((row) => unreadable.push(row));
      return { entries, unreadable };
    },
  },
};

describe('an unreadable row among others', () => {
  it.each(Object.entries(READERS))('is reported, and the others are returned: %s', async (_, reader) => {
    const tables = await engine.tables();
    const { client, name } = tables[reader.table];
    for (const Item of reader.rows) await client.send(new PutCommand({ TableName: name, Item }));

    const { entries, unreadable } = await reader.read(tables);

    expect(entries).toHaveLength(1);
    const { pk, sk } = reader.rows[1];
    expect(unreadable).toEqual([{ pk, sk: sk ?? '', error: expect.any(Error) }]);
  });

  it('of a purge is in one of its shards', () => {
    expect(listShards(PURGE_SHARDS).map((shard) => keys.purges(shard))).toContain(order().pk);
  });
});
