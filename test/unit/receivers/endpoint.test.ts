import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { Channel, parseChannelId } from '../../../functions/receivers/channels.ts';
import {
  computeEndpointEffect,
  Endpoint,
  FAILURES_TO_DISABLE,
  FAILURES_TO_WARN,
} from '../../../functions/receivers/endpoint.ts';
import { aConversation, anEndpoint, anHttpChannel, aWebWidget, NOW } from '../../builders.ts';

type Ended = 'succeeded' | 'exhausted';
type State = Pick<Endpoint, 'status' | 'consecutiveFailures'>;

/** Applies an effect as the store does. */
function apply(state: State, ended: Ended): { state: State; disabled: boolean } {
  const { status, consecutiveFailures } = state;
  switch (computeEndpointEffect(state, ended)) {
    case 'none':
      return { state, disabled: false };
    case 'reset':
    case 'recover':
      return { state: { status, consecutiveFailures: 0 }, disabled: false };
    case 'count':
    case 'warn':
      return { state: { status, consecutiveFailures: consecutiveFailures + 1 }, disabled: false };
    case 'disable':
      return {
        state: { status: 'auto_disabled', consecutiveFailures: consecutiveFailures + 1 },
        disabled: true,
      };
  }
}

/**
 * Applies the ends of deliveries to an endpoint. @returns its state, and after which of them it was disabled
 */
function run(ends: readonly Ended[]): { state: State; disabledAfter: number[] } {
  let state: State = { status: 'active', consecutiveFailures: 0 };
  const disabledAfter: number[] = [];
  for (const [index, ended] of ends.entries()) {
    const next = apply(state, ended);
    state = next.state;
    if (next.disabled) disabledAfter.push(index + 1);
  }
  return { state, disabledAfter };
}

/** The rule of docs/specification.md, Webhook endpoint status: the end of the first ten failures in a row. */
function firstTenInARow(ends: readonly Ended[]): number | undefined {
  const index = ends.findIndex(
    (_, end) => end >= 9 && ends.slice(end - 9, end + 1).every((ended) => ended === 'exhausted'),
  );
  return index === -1 ? undefined : index + 1;
}

const repeat = (ended: Ended, times: number): Ended[] => Array.from({ length: times }, () => ended);
/** Mostly failures, so that ten in a row occur. */
const ends = fc.array(
  fc.oneof(
    { arbitrary: fc.constant<Ended>('exhausted'), weight: 8 },
    { arbitrary: fc.constant<Ended>('succeeded'), weight: 1 },
  ),
  { maxLength: 60 },
);

describe('consecutive failures of an endpoint', () => {
  it('disable it at the tenth, as specified', () => {
    expect(FAILURES_TO_DISABLE).toBe(10);
    expect(run(repeat('exhausted', 9))).toEqual({
      state: { status: 'active', consecutiveFailures: 9 },
      disabledAfter: [],
    });
    expect(run(repeat('exhausted', 10))).toEqual({
      state: { status: 'auto_disabled', consecutiveFailures: 10 },
      disabledAfter: [10],
    });
  });

  it('disable it exactly once, at the end of the first ten in a row of any sequence', () => {
    fc.assert(
      fc.property(ends, (sequence) => {
        const expected = firstTenInARow(sequence);
        expect(run(sequence).disabledAfter).toEqual(expected === undefined ? [] : [expected]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('start again after any success', () => {
    fc.assert(
      fc.property(fc.nat({ max: 9 }), fc.nat({ max: 9 }), (before, behind) => {
        const sequence = [
          ...repeat('exhausted', before),
          'succeeded' as const,
          ...repeat('exhausted', behind),
        ];
        expect(run(sequence).state).toEqual({ status: 'active', consecutiveFailures: behind });
      }),
    );
  });

  it('are not counted once it is disabled, nor does a late success enable it', () => {
    fc.assert(
      fc.property(ends, (late) => {
        const disabled = run(repeat('exhausted', 10)).state;
        expect(run([...repeat('exhausted', 10), ...late]).state).toEqual(disabled);
      }),
    );
  });
});

describe('effect of a delivery on its endpoint', () => {
  it('is none for a success when there is nothing to reset', () => {
    expect(computeEndpointEffect(anEndpoint(), 'succeeded')).toBe('none');
  });

  it.each(['succeeded', 'exhausted'] as const)('is none for a deleted endpoint when it has %s', (ended) => {
    expect(computeEndpointEffect(undefined, ended)).toBe('none');
  });

  it('is a count for each of the first nine failures, with a warning for the fifth', () => {
    expect(FAILURES_TO_WARN).toBe(5);
    const effects = Array.from({ length: 9 }, (_, consecutiveFailures) =>
      computeEndpointEffect(anEndpoint({ consecutiveFailures }), 'exhausted'),
    );
    expect(effects).toEqual(effects.map((_, index) => (index === 4 ? 'warn' : 'count')));
  });

  it('disables an endpoint whose count is beyond the limit', () => {
    expect(computeEndpointEffect(anEndpoint({ consecutiveFailures: 12 }), 'exhausted')).toBe('disable');
  });
});

describe('stored endpoint', () => {
  it.each([
    { consecutiveFailures: -1 },
    { consecutiveFailures: 0.5 },
    { status: 'disabled' },
    { events: ['webhook.test'] },
    { id: 'whk_1' },
    { disabledReason: 'because' },
    { failingSince: 'yesterday' },
    { pace: 1 },
  ])('cannot have %o', (fault) => {
    expect(Endpoint.safeParse({ ...anEndpoint(), ...fault }).success).toBe(false);
  });

  it('has its failure, disabling and slow times', () => {
    const said = {
      failingSince: NOW.toISOString(),
      disabledAt: NOW.toISOString(),
      disabledReason: 'consecutive_failures',
      pace: { is: 'slow', until: NOW.toISOString() },
    } as const;
    expect(Endpoint.parse({ ...anEndpoint(), ...said })).toMatchObject(said);
  });
});

describe('channel', () => {
  it('of kind http is an endpoint without subscriptions for the engine', () => {
    const channel = anHttpChannel();
    expect(Endpoint.parse(channel)).toEqual(
      Object.fromEntries(Object.entries(channel).filter(([name]) => name !== 'kind' && name !== 'name')),
    );
    expect(channel.events).toEqual([]);
  });

  it.each([
    ['http', anHttpChannel()],
    ['web_widget', aWebWidget()],
  ])('is read back as it was stored: %s', (_, channel) => {
    expect(Channel.parse(JSON.parse(JSON.stringify(channel)))).toEqual(channel);
  });

  it('is named by a conversation whose channel id has the form of an id', () => {
    const id = newId('chn', NOW);
    expect(parseChannelId(aConversation({ channelId: id }))).toBe(id);
    for (const channelId of [
      'web',
      'chn_web',
      `${id}0`,
      id.slice(0, -1),
      id.toUpperCase(),
      ` ${id}`,
      newId('whk', NOW),
    ])
      expect(parseChannelId({ channelId }), channelId).toBeUndefined();
  });
});
