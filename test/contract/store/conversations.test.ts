import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import {
  applyStateChange,
  conversationStore,
  type StateChange,
} from '../../../functions/conversations/conversations.ts';
import { aConversation, aTenant, later, NOW } from '../../builders.ts';
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
