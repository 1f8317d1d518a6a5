import { plain } from 'terminal/paint.ts';
import { describe, expect, it } from 'vitest';
import { attentionOf, type State } from '../../../lib/operate/state.ts';
import { renderStatus } from '../../../lib/operate/status-view.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { runbookPages } from '../../support/runbooks.ts';

const aState = (changes: Partial<State> = {}): State => ({
  place: 'stage prod, eu-central-1',
  at: NOW.toISOString(),
  queues: [{ name: 'fresh', visible: 12, inFlight: 300, delayed: 4 }],
  deadLetters: [
    { name: 'delivery', messages: 0, returns: true },
    { name: 'meter', messages: 0, returns: false },
  ],
  due: { parked: { count: 0, more: false }, watched: { count: 0, more: false } },
  sources: { count: 0, more: false },
  purges: { open: 0 },
  keyrings: [{ keyring: 'signing', current: '2', versions: ['1', '2'], changedAt: NOW.toISOString() }],
  ...changes,
});

const dueSince = (age: number) => ({
  count: 100,
  more: true,
  oldestAt: later(NOW, -seconds(age)).toISOString(),
});
const none = { count: 0, more: false };

const PROBLEMS: [string, Partial<State>, RegExp][] = [
  [
    'unhandled dead letters',
    { deadLetters: [{ name: 'meter', messages: 1, returns: false }] },
    /meter has dead letters/,
  ],
  [
    'a queue near its limit',
    { queues: [{ name: 'retry', visible: 0, inFlight: 60_000, delayed: 0 }] },
    /retry nears its limit/,
  ],
  [
    'parked retries that are late',
    { due: { parked: dueSince(301), watched: none } },
    /parked retries are late/,
  ],
  ['sources that are late', { sources: dueSince(901) }, /sources of knowledge/],
  [
    'a purge that is not done',
    { purges: { open: 1, oldestAt: later(NOW, -seconds(3601)).toISOString() } },
    /not deleted yet/,
  ],
];

describe('the problems in the status', () => {
  it('are empty while all is well', () => {
    const busy = aState({
      deadLetters: [{ name: 'delivery', messages: 7, returns: true }],
      due: { parked: dueSince(60), watched: dueSince(60) },
      sources: dueSince(300),
    });
    expect(attentionOf(aState(), NOW)).toEqual([]);
    expect(attentionOf(busy, NOW)).toEqual([]);
  });

  it.each(PROBLEMS)('include %s, with a page of the runbooks', (_, changes, what) => {
    const attention = attentionOf(aState(changes), NOW);
    expect(attention).toEqual([{ what: expect.stringMatching(what), page: expect.any(String) }]);
    expect(runbookPages().map(({ name }) => name)).toContain(attention[0]?.page);
  });
});

describe('the status as text', () => {
  it('has numbers below each other', () => {
    expect(renderStatus(aState(), [], NOW, plain).split('\n')).toEqual(
      expect.arrayContaining([
        '  stage prod, eu-central-1   2026-11-20 09:30:00 UTC',
        '  queue   waiting   in flight   of limit   held back',
        '  fresh        12         300       0.3%           4',
        expect.stringMatching(/^ {2}meter +0$/),
        '  signing   current 2, has 1, 2',
        '  ✓ All healthy.',
      ]),
    );
  });

  it('shows how long due work has waited, and which page to read', () => {
    const state = aState({
      due: { parked: dueSince(780), watched: none },
      deadLetters: [{ name: 'meter', messages: 1234, returns: false }],
    });
    const text = renderStatus(state, attentionOf(state, NOW), NOW, plain);
    expect(text).toContain('100 and more, the oldest since 13 min');
    expect(text).toMatch(/meter +1,234 +dead-letters list meter/);
    expect(text).toMatch(/✗ parked retries are late.*docs\/runbooks\/backlog\.md/);
  });
});
