import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import type { EndpointId, ReceiverId } from '../../../functions/aws/ids.ts';
import { ABANDONED_ENTRIES } from '../../../functions/aws/metrics.ts';
import { put, type UnreadableRow } from '../../../functions/aws/table.ts';
import {
  conversationStore,
  escalationStore,
  messageStore,
  ticketStore,
} from '../../../functions/conversations/conversations.ts';
import { openDeliveries } from '../../../functions/delivery/delivery-queries.ts';
import { dueIndex } from '../../../functions/delivery/due-index.ts';
import { deliveriesInHour, ledgerStore, toStartOfHour } from '../../../functions/delivery/ledger.ts';
import { PUBLICATION, WORK } from '../../../functions/delivery/outbox.ts';
import { outboxReader } from '../../../functions/delivery/outbox-readers.ts';
import { redeliveryRecords } from '../../../functions/delivery/redelivery.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import { usageReader } from '../../../functions/events/usage.ts';
import { dueSources, sourceStore } from '../../../functions/knowledge/sources.ts';
import { channelStore } from '../../../functions/receivers/channels.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { blockedHostStore } from '../../../functions/receivers/receiver-url.ts';
import { redeliveryJobs } from '../../../functions/redelivery/jobs.ts';
import { jobPages } from '../../../functions/redelivery/selection.ts';
import { apiKeyStore, keyUseStore } from '../../../functions/tenancy/api-keys.ts';
import { auditLogReader } from '../../../functions/tenancy/audit.ts';
import {
  DELIVERY_SHARDS,
  keys,
  LEDGER_SHARDS,
  listShards,
  REDELIVERY_RUN_SHARDS,
} from '../../../functions/tenancy/keys.ts';
import { purgeStore } from '../../../functions/tenancy/purge.ts';
import { LIVE_GENERATION, type Tenant } from '../../../functions/tenancy/tenant.ts';
import { endpointScan } from '../../../lib/operate/endpoint-scan.ts';
import {
  aConversation,
  aDelivery,
  aLedgerEntry,
  anEndpoint,
  aRedeliveryJob,
  aTenant,
  later,
  NOW,
  seconds,
} from '../../builders.ts';
import {
  conversationOf,
  EXTERNAL_USER,
  endpointOf,
  KINDS,
  type Kind,
  type Row,
} from '../../compatibility/kinds.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { capturedOutput, WITH_TIME } from '../../unit/workers/worker-fixture.ts';

const engine = dynamoDb();

type KindName = keyof typeof KINDS;
/**
 * Reads rows together.
 * @returns what distinguishes the rows that were read
 */
type Reader = (tables: TestTables, tenant: Tenant, rows: readonly Row[]) => Promise<unknown[]>;
type Readers = Readonly<Record<string, Reader>>;

/** Why a kind needs no case: no reader reads its rows together. */
type Alone = string;

const PAGE = { limit: 100 };
const HOUR = toStartOfHour(NOW);
const BEFORE = later(NOW, -seconds(3600));
const AFTER = later(NOW, seconds(3600));
const ids = (items: readonly { id: unknown }[]) => items.map((item) => item.id);
const ofTenant = (tenant: Tenant) => ({ ...tenant, webhookId: endpointOf(tenant) });

/** What a reader of the outbox's stream makes of added rows. */
const readStreamed =
  <T extends object>(read: (row: unknown) => T | undefined): Reader =>
  async (_tables, _tenant, rows) => {
    const output = capturedOutput();
    const taken: T[] = [];
    const handle = outboxReader(
      { parse: read },
      async (batch: readonly T[]) => {
        taken.push(...batch);
        return [];
      },
      async () => [],
    );
    const Records = rows.map((row, index) => ({
      eventName: 'INSERT',
      dynamodb: {
        SequenceNumber: String(index + 1),
        NewImage: marshall(row, { removeUndefinedValues: true }),
      },
    }));
    expect(await handle({ Records } as unknown as DynamoDBStreamEvent, WITH_TIME)).toEqual({
      batchItemFailures: [],
    });
    expect(output.metric(ABANDONED_ENTRIES)).toBeGreaterThan(0);
    return taken.map((entry) => JSON.stringify(entry));
  };
const owed = (row: unknown) => JSON.stringify(WORK.parse(row));
const told = (row: unknown) => JSON.stringify(PUBLICATION.parse(row));

/** What distinguishes rows of a kind that have no id of their own. */
const NAMES: Partial<Record<KindName, (row: Row) => unknown>> = {
  purge: (row) => row.generation,
  redeliveryRecord: (row) => row.eventId,
  event: owed,
  redelivery: owed,
  notice: told,
  keyUse: (row) => row.keyId,
  blockedHost: (row) => row.host,
  active: (row) => row.webhookId,
  ledger: (row) => row.webhookId,
};

const CASES: Readonly<Record<KindName, Readers | Alone>> = {
  organization: 'read by its key',
  pairing: 'read by its key',
  endpointCount: 'only written',
  channelCount: 'only written',
  apiKey: 'read by its key',
  conversationLink: 'only its key is read',
  tombstone: 'read by its key',
  erasure: 'read by its key',
  retention: 'one of an organization',
  idempotency: 'read by its key, and scanned for its key alone',
  rateWindow: 'read by its key',
  rateSchedule: 'read by its key',
  sourceCount: 'only written',
  versionPart: 'the parts of one text: without one of them there is no text',
  metered: 'only its key is read',
  mailing: 'read by its key',
  purge: {
    open: async ({ service }) => (await purgeStore(service).open()).map(({ generation }) => generation),
  },
  listedApiKey: {
    list: async ({ service }, { orgId }) => ids((await apiKeyStore(service).list(orgId, PAGE)).items),
  },
  auditEntry: {
    list: async ({ service }, { orgId }) => ids((await auditLogReader(service)(orgId, PAGE, {}, NOW)).items),
  },
  endpoint: {
    list: async ({ service }, { orgId }) => ids((await endpointStore(service).list(orgId, PAGE)).items),
    'all, for the fan-out': async ({ service }, { orgId }) => ids(await endpointStore(service).all(orgId)),
    'scan for disabled ones': async ({ service }) => {
      const results: unknown[] = [];
      for await (const page of endpointScan(service).disabled()) results.push(...ids(page.found));
      return results;
    },
  },
  redeliveryJob: {
    list: async ({ service }, tenant) =>
      ids((await redeliveryJobs(service).list(tenant, endpointOf(tenant), PAGE)).items),
  },
  deletedEndpoint: {
    deletedSince: async ({ service }, { orgId }) =>
      (await endpointStore(service).deletedSince(orgId, NOW.toISOString(), PAGE.limit)).map(({ id }) => id),
  },
  redeliveryRecord: {
    of: async ({ service }, tenant, rows) => {
      const pairs = rows.flatMap(({ pk }) => {
        const [orgId, , , , event] = pk.split('#');
        return orgId === tenant.orgId
          ? [{ eventId: event as `evt_${string}`, webhookId: endpointOf(tenant) }]
          : [];
      });
      return (await redeliveryRecords(service)(ofTenant(tenant), pairs)).map(({ eventId }) => eventId);
    },
  },
  redeliveryRun: {
    find: async ({ service }) => {
      const pages = await Promise.all(
        listShards(REDELIVERY_RUN_SHARDS).map((shard) => redeliveryJobs(service).findRuns(shard, NOW)),
      );
      for (const row of pages.flatMap(({ unreadable }) => unreadable)) service.reportUnreadable?.(row);
      return pages.flatMap(({ entries }) => ids(entries));
    },
  },
  conversation: {
    list: async ({ service }, tenant) => ids((await conversationStore(service).list(tenant, PAGE)).items),
  },
  userConversation: {
    'list of a user': async ({ service }, tenant, rows) => {
      for (const { sk } of rows) {
        const conversation = aConversation({ id: sk as `cnv_${string}` });
        await put(service, { ...keys.conversation(tenant, conversation.id), ...conversation });
      }
      const filter = { externalUserId: EXTERNAL_USER };
      return ids((await conversationStore(service).list(tenant, PAGE, filter)).items);
    },
  },
  message: {
    list: async ({ service }, tenant) =>
      ids((await messageStore(service).list(tenant, conversationOf(tenant), PAGE)).items),
    "follow, for the widget's visitors": async ({ service }, tenant) =>
      ids((await messageStore(service).follow(tenant, conversationOf(tenant), PAGE, NOW)).items),
  },
  escalation: {
    list: async ({ service }, tenant) =>
      ids((await escalationStore(service).list(tenant, conversationOf(tenant), PAGE)).items),
  },
  ticket: {
    list: async ({ service }, tenant) => ids((await ticketStore(service).list(tenant, PAGE)).items),
  },
  event: {
    'the stream, for the fan-out': readStreamed(WORK.parse),
  },
  redelivery: {
    'the stream, for the fan-out': readStreamed(WORK.parse),
  },
  notice: {
    'the stream, for the publisher': readStreamed(PUBLICATION.parse),
  },
  keyUse: {
    read: async ({ rates }, { orgId }, rows) => {
      const wanted = rows.flatMap(({ pk }) => {
        const [of, , key] = pk.split('#');
        return of === orgId ? [key as `key_${string}`] : [];
      });
      return [...(await keyUseStore(rates).read(orgId, wanted)).keys()];
    },
  },
  delivery: {
    'those that are due': async ({ deliveries }, { orgId }) => {
      const range = { first: keys.dueKey(orgId, ''), last: keys.dueKey(orgId, '~'), isOfOne: true };
      const { entries, unreadable } = await dueIndex(deliveries).find('watched', 0, AFTER, range);
      for (const row of unreadable) deliveries.reportUnreadable?.(row);
      return entries.map(({ message }) => message.id);
    },
    list: async ({ deliveries }, tenant) =>
      ids((await deliveryStore(deliveries).list(tenant, endpointOf(tenant), PAGE)).items),
    states: async ({ deliveries }, tenant, rows) => {
      const refs = rows.flatMap(({ pk, sk }) =>
        pk.startsWith(endpointOf(tenant)) ? [{ ...ofTenant(tenant), id: sk as `dlv_${string}` }] : [],
      );
      return [...(await deliveryStore(deliveries).states(refs as never)).keys()];
    },
    'pages of redelivery jobs': async (tables, tenant) => {
      const { readNext } = jobPages(
        { tables, deliveries: deliveryStore(tables.deliveries), now: () => NOW },
        { pageSize: 100 },
      );
      const range = { from: BEFORE.toISOString(), to: AFTER.toISOString() };
      const job = aRedeliveryJob({ ...ofTenant(tenant), ...range });
      return (await readNext(job, anEndpoint())).items.map((item) => String(item.id));
    },
    'open ones': async ({ deliveries }, tenant) =>
      ids(
        await openDeliveries(deliveries)(ofTenant(tenant), [BEFORE, AFTER], 'oldest', {
          units: 1000,
        }),
      ),
    'the hour, for the audit': async ({ deliveries }, tenant) => {
      const pages = await Promise.all(
        listShards(DELIVERY_SHARDS).map((shard) =>
          deliveriesInHour(deliveries)({ ...ofTenant(tenant), hour: HOUR }, shard),
        ),
      );
      return pages.flatMap(({ deliveries: found }) => ids(found));
    },
  },
  source: {
    'those that are due': async ({ knowledge }) => {
      const { entries, unreadable } = await dueSources(knowledge).find(0, NOW);
      for (const row of unreadable) knowledge.reportUnreadable?.(row);
      return ids(entries);
    },
    list: async ({ knowledge }, tenant) => ids((await sourceStore(knowledge).list(tenant, PAGE)).items),
  },
  channel: {
    list: async ({ service }, { orgId }) => ids((await channelStore(service).list(orgId, PAGE)).items),
  },
  usageOf: 'a sum, which is wrong without a part: below',
  checkSlots: 'read by its key',
  endpointHostCount: 'only written',
  blockedHost: {
    all: async ({ service }) => (await blockedHostStore(service).all()).map(({ host }) => host),
  },
  active: {
    'the hour, for the audit': async ({ ledger }, tenant, rows) => {
      for (const { sk = '' } of rows) {
        const [webhookId = ''] = sk.split('#');
        const counted = aLedgerEntry({ ...tenant, webhookId: webhookId as EndpointId });
        const entry = { ...counted, hour: HOUR, generation: LIVE_GENERATION };
        await put(ledger, { ...keys.ledger(entry.webhookId, entry.generation, HOUR), ...entry });
      }
      return await inHour(ledger);
    },
  },
  ledger: {
    'the hour, for the audit': async ({ ledger }, { orgId }, rows) => {
      for (const { pk } of rows) {
        const [webhookId = ''] = pk.split('#');
        const key = keys.active(webhookId as EndpointId, LIVE_GENERATION, HOUR);
        await put(ledger, { ...key, orgId, webhookId, generation: LIVE_GENERATION });
      }
      return await inHour(ledger);
    },
    'of an endpoint, for statistics': async ({ ledger }, _tenant, rows) => {
      const endpoints = rows.map(({ pk }) => pk.split('#')[0] as ReceiverId);
      const hours = { first: HOUR, last: HOUR };
      const store = ledgerStore(ledger);
      const read = await Promise.all(endpoints.map((id) => store.read(id, LIVE_GENERATION, hours)));
      return read.flat().map(({ webhookId }) => webhookId);
    },
  },
};

async function inHour(ledger: TestTables['ledger']): Promise<ReceiverId[]> {
  const pages = await Promise.all(
    listShards(LEDGER_SHARDS).map((shard) => ledgerStore(ledger).inHour(HOUR, shard)),
  );
  return pages.flatMap(({ entries }) => entries.map(({ webhookId }) => webhookId));
}

/** Attributes of a row's keys and indexes: DynamoDB itself enforces their types. */
const KEYS = new Set(['pk', 'sk', 'dueIn', 'dueKey', 'dueAt', 'ofSandbox']);

/**
 * Invalid rows, made from valid ones by an attribute that is missing, of another type or of an unknown value.
 */
function brokenRows({ make, keyOf }: Kind, tenant: Tenant): Row[] {
  const changes = Object.keys(make(tenant)).flatMap((name) =>
    KEYS.has(name) ? [] : [undefined, { broken: true }, 'broken'].map((value) => ({ [name]: value })),
  );
  return changes
    .map((change) => ({ ...make(tenant), ...change }))
    .filter((row) => {
      try {
        keyOf(row, tenant);
        return false;
      } catch {
        return true;
      }
    });
}

const cases = Object.entries(CASES).flatMap(([kind, readers]) =>
  typeof readers === 'string'
    ? []
    : Object.entries(readers).map(([reader, read]) => [kind as KindName, reader, read] as const),
);

/** Tables that collect their reports. */
async function reportingTables(): Promise<{ tables: TestTables; reported: UnreadableRow[] }> {
  const reported: UnreadableRow[] = [];
  const reportUnreadable = (row: UnreadableRow) => void reported.push(row);
  const tables = await engine.tables();
  const entries = Object.entries(tables).map(([name, table]) => [name, { ...table, reportUnreadable }]);
  return { tables: Object.fromEntries(entries), reported };
}

describe('an unreadable row', () => {
  it.each(cases)(
    'of the kind %s is left out and reported by %s, which returns all others',
    async (kind, _reader, read) => {
      const { tables, reported } = await reportingTables();
      const [tenant, other] = [aTenant(), aTenant()];
      const { make, table } = KINDS[kind];
      const nameOf = NAMES[kind] ?? (({ id }: Row) => id);
      const good = [make(tenant), make(tenant)];
      const broken = brokenRows(KINDS[kind], tenant);
      expect(broken.length).toBeGreaterThan(1);
      const ofOther = [make(other)];
      const all = [...good.slice(0, 1), ...broken, ...good.slice(1), ...ofOther];
      for (const row of all) await put(tables[table], row);

      const kinds = new Set([
        ...(await read(tables, tenant, all)),
        ...(await read(tables, other, [...ofOther, ...broken.slice(0, 1)])),
      ]);

      for (const row of [...good, ...ofOther]) expect(kinds).toContain(nameOf(row));
      if (table === 'outbox') return;
      const places = new Set(broken.map(({ pk, sk = '' }) => `${pk} ${sk}`));
      expect(reported.length).toBeGreaterThan(0);
      for (const { pk, sk } of reported) expect(places).toContain(`${pk} ${sk}`);
    },
  );

  it("makes only its own organization's usage fail", async () => {
    const { tables } = await reportingTables();
    const [tenant, other] = [aTenant(), aTenant()];
    const counter = ({ orgId }: Tenant, shard: number) => ({
      ...keys.usageOf(orgId, '2026-11', shard),
      orgId,
      month: '2026-11',
      conversations: 1,
      messages: 2,
    });
    for (const row of [counter(tenant, 0), { ...counter(tenant, 1), messages: 'broken' }, counter(other, 0)])
      await put(tables.usage, row);
    const read = usageReader(tables.usage);
    const months = { from: '2026-11', to: '2026-11' };

    await expect(read(tenant.orgId, months)).rejects.toThrow();
    expect([...(await read(other.orgId, months)).keys()]).toEqual(['2026-11']);
  });

  it('makes its part of an hour incomplete', async () => {
    const { tables } = await reportingTables();
    const tenant = aTenant();
    const make = () => {
      const delivery = aDelivery(ofTenant(tenant));
      return { ...keys.delivery(delivery.webhookId, delivery.generation, delivery.id), ...delivery };
    };
    for (const row of [make(), { ...make(), attempts: 'broken' }]) await put(tables.deliveries, row);

    const hours = await Promise.all(
      listShards(DELIVERY_SHARDS).map((shard) =>
        deliveriesInHour(tables.deliveries)({ ...ofTenant(tenant), hour: HOUR }, shard),
      ),
    );
    expect(hours.filter(({ isComplete }) => !isComplete)).toHaveLength(1);
  });

  it('makes the read of a table without a reporter fail', async () => {
    const { service } = await engine.tables();
    const { orgId } = aTenant();
    const row = { ...KINDS.endpoint.make(aTenant({ orgId })), url: 7 };
    await put(service, row);

    await expect(endpointStore(service).all(orgId)).rejects.toThrow();
  });
});
