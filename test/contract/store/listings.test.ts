import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { Page, PageRequest } from '../../../functions/aws/pages.ts';
import type { Table } from '../../../functions/aws/table.ts';
import { type Change, committer } from '../../../functions/aws/transaction.ts';
import {
  conversationStore,
  escalationStore,
  messageStore,
  ticketStore,
} from '../../../functions/conversations/conversations.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import { sourceStore } from '../../../functions/knowledge/sources.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import {
  aConversation,
  aDelivery,
  aMessage,
  anEscalation,
  aSource,
  aTenant,
  aTicket,
  later,
  NOW,
} from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { casesOf } from '../../support/cases.ts';

const engine = dynamoDb();
/** The parent of the listed resources. */
const conversationId = newId('cnv', NOW);
const webhookId = newId('whk', NOW);

/** A collection of one tenant: adds an item created at a given time, and lists. */
interface Collection {
  add(createdAt: Date): Promise<string>;
  list(page: PageRequest): Promise<Page<{ id: string }>>;
}

const collections: Record<string, (tables: TestTables, tenant: Tenant) => Collection> = {
  conversations({ service }, tenant) {
    const store = conversationStore(service);
    return {
      add: (at) => added(service, aConversation({ id: newId('cnv', at) }), (one) => store.add(tenant, one)),
      list: (page) => store.list(tenant, page),
    };
  },
  messages({ service }, tenant) {
    const store = messageStore(service);
    const make = (at: Date) => aMessage({ id: newId('msg', at), conversationId });
    return {
      add: (at) => added(service, make(at), (one) => [store.add(tenant, one)]),
      list: (page) => store.list(tenant, conversationId, page),
    };
  },
  'an escalation log'({ service }, tenant) {
    const store = escalationStore(service);
    const make = (at: Date) => anEscalation({ id: newId('esc', at), conversationId });
    return {
      add: (at) => added(service, make(at), (one) => [store.add(tenant, one)]),
      list: (page) => store.list(tenant, conversationId, page),
    };
  },
  tickets({ service }, tenant) {
    const store = ticketStore(service);
    return {
      add: (at) => added(service, aTicket({ id: newId('tkt', at) }), (one) => store.add(tenant, one)),
      list: (page) => store.list(tenant, page),
    };
  },
  sources({ knowledge }, tenant) {
    const store = sourceStore(knowledge);
    return {
      add: (at) => added(knowledge, aSource({ ...tenant, id: newId('src', at) }), store.add),
      list: (page) => store.list(tenant, page),
    };
  },
  deliveries({ deliveries }, { generation, orgId }) {
    const store = deliveryStore(deliveries);
    return {
      async add(at) {
        const eventId = newId('evt', at);
        const delivery = aDelivery({ eventId, webhookId, generation, createdAt: at.toISOString() });
        await store.add(delivery);
        return delivery.id;
      },
      list: (page) => store.list({ orgId, generation }, webhookId, page),
    };
  },
};

/** Adds an item. @returns its id */
async function added<T extends { id: string }>(
  { client }: Table,
  item: T,
  changes: (item: T) => Change[],
): Promise<string> {
  await committer(client)(changes(item));
  return item.id;
}

/** Adds so many items, three in each millisecond. */
const fill = (collection: Collection, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => collection.add(later(NOW, Math.floor(index / 3)))));

/** Reads all pages, and runs something in between. */
async function pageThrough(collection: Collection, limit: number, between: () => Promise<unknown>) {
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const { items, next } = await collection.list({ limit, after });
    pages.push(items.map(({ id }) => id));
    after = next;
    await between();
  } while (after !== undefined);
  return pages;
}

describe.each(Object.entries(collections))('a listing of %s', (_, open) => {
  const aCollection = async (tenant = aTenant()) => open(await engine.tables(), tenant);

  it('returns each of many exactly once in pages of 7, newest first, during writes of any time', async () => {
    const collection = await aCollection();
    const existing = await fill(collection, casesOf(100, 300));
    let written = 0;

    const pages = await pageThrough(collection, 7, async () => {
      written += 1;
      await collection.add(later(NOW, 10));
      await collection.add(later(NOW, 1000 + written));
    });

    const seen = pages.flat();
    expect(seen).toEqual([...new Set(seen)].toSorted().reverse());
    expect(seen).toEqual(expect.arrayContaining(existing));
    expect(pages.slice(0, -1).every((page) => page.length === 7)).toBe(true);
  });

  it('contains nothing of another generation', async () => {
    const tables = await engine.tables();
    const tenant = aTenant();
    await fill(open(tables, tenant), 10);

    expect(await open(tables, { ...tenant, generation: 1 }).list({ limit: 100 })).toEqual({ items: [] });
  });
});

describe('a listing of conversations', () => {
  it('continues after the megabyte at which DynamoDB ends an answer', async () => {
    const { service } = await engine.tables();
    const store = messageStore(service);
    const commit = committer(service.client);
    const tenant = aTenant();
    const conversationId = newId('cnv', NOW);
    const large = Array.from({ length: 12 }, (_, index) =>
      aMessage({ id: newId('msg', later(NOW, index)), conversationId, content: 'x'.repeat(200_000) }),
    );
    for (const message of large) await commit([store.add(tenant, message)]);

    const page = await store.list(tenant, conversationId, { limit: 10 });

    expect(page.items.map(({ id }) => id)).toEqual(
      large
        .map(({ id }) => id)
        .reverse()
        .slice(0, 10),
    );
    expect(page.next).toBe(page.items.at(-1)?.id);
  });
});
