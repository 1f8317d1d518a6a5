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

  it('is resolved by its first resolver until it is opened, was updated when it last changed, and can be stored', () => {
    const lasting = ({ id, channelId, externalUserId, createdAt }: Conversation) =>
      JSON.stringify([id, channelId, externalUserId, createdAt]);
    fc.assert(
      fc.property(fc.array(moves, { maxLength: 20 }), (sequence) => {
        const states = statesThrough(sequence);
        let resolvedBy: string | undefined;
        for (const [index, move] of sequence.entries()) {
          const [before, state] = states.slice(index) as [Conversation, Conversation];
          if (move.kind === 'resolve') resolvedBy ??= move.by;
          if (move.kind === 'reopen') resolvedBy = undefined;
          expect(state.resolvedBy).toBe(resolvedBy);
          expect(state.resolvedAt !== undefined).toBe(state.status === 'resolved');
          if (state !== before) expect(state.updatedAt).toBe(move.at.toISOString());
          expect(lasting(state)).toBe(lasting(before));
          expect(Conversation.parse(state)).toEqual(state);
        }
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
