import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import {
  applyStateChange,
  Conversation,
  type ConversationStatus,
  type StateChange,
} from '../../../functions/conversations/conversations.ts';
import { aConversation, NOW } from '../../builders.ts';
import { texts, times } from '../aws/arbitraries.ts';

const resolution = { kind: 'resolve', by: 'api', at: NOW } as const;

/**
 * The transitions of docs/specification.md, Conversations: the state after each change in each state, or
 * undefined where the change is refused or has no effect.
 */
const TABLE: Record<ConversationStatus, Record<StateChange['kind'], ConversationStatus | undefined>> = {
  open: { 'hand-off': 'handed_off', resolve: 'resolved', reopen: undefined },
  handed_off: { 'hand-off': undefined, resolve: 'resolved', reopen: undefined },
  resolved: { 'hand-off': undefined, resolve: undefined, reopen: 'open' },
};

const inState: Record<ConversationStatus, Conversation> = {
  open: aConversation(),
  handed_off: aConversation({ status: 'handed_off' }),
  resolved: aConversation({ status: 'resolved', resolvedAt: NOW.toISOString(), resolvedBy: 'first' }),
};

const moves: fc.Arbitrary<StateChange> = fc.oneof(
  fc.record({ kind: fc.constant('hand-off' as const), at: times }),
  fc.record({ kind: fc.constant('resolve' as const), by: texts, at: times }),
  fc.record({ kind: fc.constant('reopen' as const), at: times }),
);

/** The conversation after each possible change, the first state included. */
function statesThrough(sequence: readonly StateChange[]): Conversation[] {
  let state = aConversation();
  const states = [state];
  for (const move of sequence) {
    state = applyStateChange(state, move) ?? state;
    states.push(state);
  }
  return states;
}

const cases = Object.entries(TABLE).flatMap(([status, row]) =>
  Object.entries(row).map(
    ([kind, to]) => [kind as StateChange['kind'], status as ConversationStatus, to] as const,
  ),
);
const toChange = (kind: StateChange['kind']): StateChange =>
  kind === 'resolve' ? resolution : { kind, at: NOW };

describe('conversation', () => {
  it.each(cases)('by the change "%s" goes from %s to %s (undefined: unchanged)', (kind, status, to) => {
    expect(applyStateChange(inState[status], toChange(kind))?.status).toBe(to);
  });

  it('has the time and author of its resolution exactly while it is resolved', () => {
    fc.assert(
      fc.property(fc.array(moves, { maxLength: 20 }), (sequence) => {
        for (const state of statesThrough(sequence)) {
          expect(state.resolvedAt !== undefined).toBe(state.status === 'resolved');
          expect(state.resolvedBy !== undefined).toBe(state.status === 'resolved');
        }
      }),
    );
  });

  it('keeps its first resolver until a message reopens it', () => {
    fc.assert(
      fc.property(fc.array(moves, { maxLength: 20 }), (sequence) => {
        let resolvedBy: string | undefined;
        for (const [index, state] of statesThrough(sequence).slice(1).entries()) {
          const move = sequence[index];
          if (move?.kind === 'resolve') resolvedBy ??= move.by;
          if (move?.kind === 'reopen') resolvedBy = undefined;
          expect(state.resolvedBy).toBe(resolvedBy);
        }
      }),
    );
  });

  it('was updated when it last changed', () => {
    fc.assert(
      fc.property(fc.array(moves, { maxLength: 20 }), (sequence) => {
        const states = statesThrough(sequence);
        for (const [index, move] of sequence.entries())
          if (states[index + 1] !== states[index])
            expect(states[index + 1]?.updatedAt).toBe(move.at.toISOString());
      }),
    );
  });

  it('keeps all other fields', () => {
    const lasting = ({ id, channelId, externalUserId, createdAt }: Conversation) =>
      JSON.stringify([id, channelId, externalUserId, createdAt]);
    fc.assert(
      fc.property(fc.array(moves, { maxLength: 20 }), (sequence) => {
        expect(new Set(statesThrough(sequence).map(lasting)).size).toBe(1);
      }),
    );
  });

  it('can be stored in every state', () => {
    fc.assert(
      fc.property(fc.array(moves, { maxLength: 20 }), (sequence) => {
        for (const state of statesThrough(sequence)) expect(Conversation.parse(state)).toEqual(state);
      }),
    );
  });

  it('is not mutated by a change', () => {
    const before = structuredClone(inState);
    for (const [kind, status] of cases) applyStateChange(inState[status], toChange(kind));
    expect(inState).toEqual(before);
  });
});

describe('stored conversation', () => {
  it.each([
    { status: 'closed' },
    { id: newId('msg', NOW) },
    { resolvedAt: 'yesterday' },
    { channelId: null },
  ])('cannot have %o', (fault) => {
    expect(Conversation.safeParse({ ...aConversation(), ...fault }).success).toBe(false);
  });
});
