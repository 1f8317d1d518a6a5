import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeEndpointEffect, Endpoint, FAILURES_TO_DISABLE } from '../../../functions/domain/endpoint.ts';
import { anEndpoint, NOW } from '../../builders.ts';

type Ended = 'succeeded' | 'exhausted';
type State = Pick<Endpoint, 'status' | 'consecutiveFailures'>;

/** What the store does for each effect. */
function apply(state: State, ended: Ended): { state: State; disabled: boolean } {
  const { status, consecutiveFailures } = state;
  switch (computeEndpointEffect(state, ended)) {
    case 'none':
      return { state, disabled: false };
    case 'reset':
      return { state: { status, consecutiveFailures: 0 }, disabled: false };
    case 'count':
      return { state: { status, consecutiveFailures: consecutiveFailures + 1 }, disabled: false };
    case 'disable':
      return {
        state: { status: 'auto_disabled', consecutiveFailures: consecutiveFailures + 1 },
        disabled: true,
      };
  }
}

/** Runs deliveries' ends through an endpoint; says after which of them it was disabled. */
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

/** The rule as the specification says it: the end of the first ten failures in a row, or undefined. */
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
  it('disable it at the tenth, as the specification says', () => {
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

  it('begin anew after any success', () => {
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

  it('are counted no further once it is disabled, nor does a late success enable it', () => {
    fc.assert(
      fc.property(ends, (late) => {
        const disabled = run(repeat('exhausted', 10)).state;
        expect(run([...repeat('exhausted', 10), ...late]).state).toEqual(disabled);
      }),
    );
  });
});

describe('the effect of a delivery on its endpoint', () => {
  it('is none for a success when there is nothing to reset', () => {
    expect(computeEndpointEffect(anEndpoint(), 'succeeded')).toBe('none');
  });

  it.each(['succeeded', 'exhausted'] as const)('is none for one that %s when it is deleted', (ended) => {
    expect(computeEndpointEffect(undefined, ended)).toBe('none');
  });

  it('never disables an endpoint on one error, nor on any of the first nine', () => {
    fc.assert(
      fc.property(fc.nat({ max: 8 }), (consecutiveFailures) => {
        expect(computeEndpointEffect(anEndpoint({ consecutiveFailures }), 'exhausted')).toBe('count');
      }),
    );
  });

  it('disables an endpoint whose count is somehow beyond the limit', () => {
    expect(computeEndpointEffect(anEndpoint({ consecutiveFailures: 12 }), 'exhausted')).toBe('disable');
  });
});

describe('a stored endpoint', () => {
  it.each([
    { consecutiveFailures: -1 },
    { consecutiveFailures: 0.5 },
    { status: 'disabled' },
    { events: ['webhook.test'] },
    { id: 'whk_1' },
    { disabledReason: 'because' },
    { failingSince: 'yesterday' },
    { slowUntil: 1 },
  ])('cannot have %o', (fault) => {
    expect(Endpoint.safeParse({ ...anEndpoint(), ...fault }).success).toBe(false);
  });

  it('says since when it fails, when and why it was disabled, and until when it is slow', () => {
    const said = {
      failingSince: NOW.toISOString(),
      disabledAt: NOW.toISOString(),
      disabledReason: 'consecutive_failures',
      slowUntil: NOW.toISOString(),
    } as const;
    expect(Endpoint.parse({ ...anEndpoint(), ...said })).toMatchObject(said);
  });
});
