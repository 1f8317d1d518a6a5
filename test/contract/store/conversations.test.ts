import { PATIENCE } from 'aws-local/test/patience.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import {
  applyStateChange,
  type Conversation,
  type ConversationFilter,
  ConversationStatus,
  conversationStore,
  type StateChange,
} from '../../../functions/conversations/conversations.ts';
import { aConversation, aTenant, later, NOW } from '../../builders.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { dynamoDb } from '../../engines.ts';
import { casesOf } from '../../support/cases.ts';

const engine = dynamoDb();

const COMMITTED = { kind: 'committed' };
const REFUSED = { kind: 'refused', refusal: 'conversation-changed' };

const moves: fc.Arbitrary<StateChange> = fc.oneof(
  fc.constant<StateChange>({ kind: 'hand-off', at: NOW }),
  fc.record({
    kind: fc.constant('resolve' as const),
    by: fc.string({ minLength: 1, maxLength: 20 }),
    at: fc.nat({ max: 100_000 }).map((milliseconds) => later(NOW, milliseconds)),
  }),
  fc.constant<StateChange>({ kind: 'reopen', at: NOW }),
);

async function setUp() {
  const { service } = await engine.tables();
  const store = conversationStore(service);
  const commit = committer(service.client);
  const tenant = aTenant();
  await commit(store.add(tenant, aConversation()));
  return { tenant, store, commit };
}

describe('a state change of a stored conversation', () => {
  it('is made or refused according to the rule, after any other changes', async () => {
    const { commit, store, tenant } = await setUp();
    await fc.assert(
      fc.asyncProperty(fc.array(moves, { minLength: 1, maxLength: 12 }), async (sequence) => {
        let expected = aConversation();
        await commit(store.add(tenant, expected));
        for (const move of sequence) {
          const next = applyStateChange(expected, move);
          expect(await commit([store.changeState(tenant, expected.id, move)])).toEqual(
            next ? COMMITTED : REFUSED,
          );
          expected = next ?? expected;
          expect(await store.find(tenant, expected.id)).toEqual(expected);
        }
      }),
      { numRuns: casesOf(15, 40) },
    );
  });

  it.each<StateChange>([
    { kind: 'hand-off', at: NOW },
    { kind: 'resolve', by: 'api', at: NOW },
    { kind: 'reopen', at: NOW },
  ])('by $kind creates no conversation', async (move) => {
    const { commit, store, tenant } = await setUp();
    const id = newId('cnv', NOW);

    expect(await commit([store.changeState(tenant, id, move)])).toEqual(REFUSED);

    expect(await store.find(tenant, id)).toBeUndefined();
    expect((await store.list(tenant, { limit: 10 })).items).toHaveLength(1);
  });
});

/** Two values of each field, and times of a few milliseconds, so that filters match some of a few. */
const USERS = ['ada', 'a user whose name begins like another'];
const CHANNELS = ['web', 'chn_web'];
const SPAN = 12;
const milliseconds = fc.integer({ min: 0, max: SPAN });

const conversations = fc.array(
  fc.record({
    externalUserId: fc.constantFrom(...USERS),
    channelId: fc.constantFrom(...CHANNELS),
    status: fc.constantFrom(...ConversationStatus.options),
    created: milliseconds,
    updated: milliseconds,
  }),
  { minLength: 1, maxLength: 30, size: 'max' },
);
const time = milliseconds.map((ms) => later(NOW, ms));
const filters: { readonly [Name in keyof Required<ConversationFilter>]: fc.Arbitrary<unknown> } = {
  externalUserId: fc.constantFrom(...USERS),
  channelId: fc.constantFrom(...CHANNELS),
  status: fc.subarray([...ConversationStatus.options], { minLength: 1 }),
  updatedAfter: time,
  updatedBefore: time,
};
const NAMES = Object.keys(filters) as (keyof ConversationFilter)[];
/** Every combination of filters, none and all included. */
const COMBINATIONS = Array.from({ length: 2 ** NAMES.length }, (_, mask) =>
  NAMES.filter((_name, bit) => mask & (1 << bit)),
);

/** The rule, apart from the code that is tested. */
const isWanted = (filter: ConversationFilter) => (conversation: Conversation) =>
  (!filter.externalUserId || conversation.externalUserId === filter.externalUserId) &&
  (!filter.channelId || conversation.channelId === filter.channelId) &&
  (!filter.status || filter.status.includes(conversation.status)) &&
  (!filter.updatedAfter || new Date(conversation.updatedAt) >= filter.updatedAfter) &&
  (!filter.updatedBefore || new Date(conversation.updatedAt) < filter.updatedBefore);

it.each([
  ['in memory', async () => memoryTables(), casesOf(2, 40)],
  ['in the engine', () => engine.tables(), 1],
] as const)(
  'every combination of filters finds what matches, in pages of 3 while others write (%s)',
  { timeout: 120_000 * PATIENCE },
  async (_where, tablesOf, runs) => {
    for (const names of COMBINATIONS)
      await fc.assert(
        fc.asyncProperty(
          conversations,
          fc.record(Object.fromEntries(names.map((name) => [name, filters[name]]))),
          async (made, given) => {
            const filter: ConversationFilter = given;
            const { service } = await tablesOf();
            const store = conversationStore(service);
            const [tenant, other] = [aTenant(), aTenant()];
            const commit = committer(service.client);
            const existing = made.map(({ created, updated, ...fields }) => {
              const at = later(NOW, created);
              const updatedAt = later(NOW, Math.max(created, updated)).toISOString();
              return aConversation({
                ...fields,
                id: newId('cnv', at),
                createdAt: at.toISOString(),
                updatedAt,
              });
            });
            for (const [index, conversation] of existing.entries())
              await commit(store.add(index % 5 === 4 ? other : tenant, conversation));
            // One changes while the list is read: it may be there or not, and once.
            const [changing] = existing;
            const ids: string[] = [];
            let after: string | undefined;
            for (let page = 0; page === 0 || after !== undefined; page += 1) {
              const { items, next } = await store.list(tenant, { limit: 3, after }, filter);
              ids.push(...items.map(({ id }) => id));
              after = next;
              await commit(
                store.add(tenant, aConversation({ ...changing, id: newId('cnv', later(NOW, 99)) })),
              );
              if (changing)
                await commit([
                  store.update(tenant, changing, { channelId: 'another' }, new Date(changing.updatedAt)),
                ]);
            }

            const expected = existing
              .filter((_conversation, index) => index % 5 !== 4)
              .filter(isWanted(filter))
              .map(({ id }) => id);
            const isSettled = (id: string) => id !== changing?.id;
            expect(ids).toEqual([...new Set(ids)].toSorted().reverse());
            expect(ids.filter(isSettled)).toEqual(expected.filter(isSettled).toSorted().reverse());
          },
        ),
        { numRuns: runs },
      );
  },
);
