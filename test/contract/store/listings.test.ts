import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { Page, PageRequest } from '../../../functions/aws/pages.ts';
import { committer } from '../../../functions/aws/transaction.ts';
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
  anEvent,
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
  conversations: ({ service }, tenant) => {
    const store = conversationStore(service);
    const commit = committer(service.client);
    return {
      async add(createdAt) {
        const conversation = aConversation({ id: newId('cnv', createdAt) });
        await commit(store.add(tenant, conversation));
        return conversation.id;
      },
      list: (page) => store.list(tenant, page),
    };
  },
  messages: ({ service }, tenant) => {
    const store = messageStore(service);
    const commit = committer(service.client);
    return {
      async add(createdAt) {
        const message = aMessage({ id: newId('msg', createdAt), conversationId });
        await commit([store.add(tenant, message)]);
        return message.id;
      },
      list: (page) => store.list(tenant, conversationId, page),
    };
  },
  'an escalation log': ({ service }, tenant) => {
    const store = escalationStore(service);
    const commit = committer(service.client);
    return {
      async add(createdAt) {
        const escalation = anEscalation({ id: newId('esc', createdAt), conversationId });
        await commit([store.add(tenant, escalation)]);
        return escalation.id;
      },
      list: (page) => store.list(tenant, conversationId, page),
    };
  },
  tickets: ({ service }, tenant) => {
    const store = ticketStore(service);
    const commit = committer(service.client);
    return {
      async add(createdAt) {
        const ticket = aTicket({ id: newId('tkt', createdAt) });
        await commit(store.add(tenant, ticket));
        return ticket.id;
      },
      list: (page) => store.list(tenant, page),
    };
  },
  sources: ({ knowledge }, tenant) => {
    const store = sourceStore(knowledge);
    const commit = committer(knowledge.client);
    return {
      async add(createdAt) {
        const source = aSource({ ...tenant, id: newId('src', createdAt) });
        await commit(store.add(source));
        return source.id;
      },
      list: (page) => store.list(tenant, page),
    };
  },
  deliveries: ({ deliveries }, tenant) => {
    const store = deliveryStore(deliveries);
    return {
      async add(createdAt) {
        const eventId = anEvent({ now: createdAt }).id;
        const delivery = aDelivery({
          eventId,
          webhookId,
          generation: tenant.generation,
          createdAt: createdAt.toISOString(),
        });
        await store.add(delivery);
        return delivery.id;
      },
      list: (page) => store.list(tenant, webhookId, page),
    };
  },
};

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

  it('returns each of many exactly once in pages of 7, newest first, during writes', async () => {
    const collection = await aCollection();
    const existing = await fill(collection, casesOf(100, 300));
    let written = 0;

    const pages = await pageThrough(collection, 7, () => {
      written += 1;
      return collection.add(later(NOW, 1000 + written));
    });

    const seen = pages.flat();
    expect(seen).toEqual(existing.toSorted().reverse());
    expect(pages.slice(0, -1).every((page) => page.length === 7)).toBe(true);
  });

  it('neither skips nor repeats items when others are written in the same milliseconds', async () => {
    const collection = await aCollection();
    const existing = await fill(collection, 60);

    const seen = (await pageThrough(collection, 7, () => collection.add(later(NOW, 10)))).flat();

    expect(seen).toEqual(seen.toSorted().reverse());
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(existing));
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
