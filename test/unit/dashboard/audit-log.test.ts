import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../dashboard/src/api/audit-log.ts';
import {
  ACTOR_TYPES,
  countNarrowing,
  daysBefore,
  daysOf,
  type Filters,
  filtersIn,
  parametersOf,
  queryOf,
  TIME_CHOICES,
} from '../../../dashboard/src/pages/audit-log/filters.ts';
import { nameOfTarget, pathOfTarget } from '../../../dashboard/src/pages/audit-log/targets.ts';

const ACTIONS = ['webhook.created', 'api_key.revoked'];
const NONE: Filters = { environment: 'live', action: 'any', actor: 'any', time: 'any', from: '', to: '' };
/** In the time zone of the test, as days are the reader's. */
const NOW = new Date(2026, 10, 20, 9, 30);
const local = (...parts: [number, number, number]) => new Date(...parts).toISOString();

const days = fc.constantFrom('', '2026-11-01', '2026-02-28');
const someFilters: fc.Arbitrary<Filters> = fc
  .record({
    environment: fc.constantFrom('live' as const, 'sandbox' as const),
    action: fc.constantFrom('any', ...ACTIONS),
    actor: fc.constantFrom('any', 'key_1', ...ACTOR_TYPES),
    time: fc.constantFrom(...TIME_CHOICES),
    from: days,
    to: days,
  })
  .map((filters) => (filters.time === 'custom' ? filters : { ...filters, from: '', to: '' }));

describe('filters of the audit log', () => {
  it('survive in the URL', () => {
    fc.assert(
      fc.property(someFilters, (filters) => {
        expect(filtersIn(new URLSearchParams(parametersOf(filters)), ACTIONS)).toEqual(filters);
      }),
    );
  });

  it('narrow nothing where a URL says what they do not know', () => {
    const search = new URLSearchParams(
      `environment=test&action=x&time=never&from=2026-13-01&to=tomorrow&actor=${'x'.repeat(256)}`,
    );
    expect(filtersIn(search, ACTIONS)).toEqual(NONE);
    expect(countNarrowing(NONE)).toBe(0);
  });

  it('ask for nothing but the environment when they narrow nothing', () => {
    expect(queryOf(NONE, NOW)).toEqual({ environment: 'live' });
  });

  it('tell types of actors from the identifier of one', () => {
    expect(queryOf({ ...NONE, actor: 'service' }, NOW)).toMatchObject({ actorType: 'service' });
    expect(queryOf({ ...NONE, actor: 'key_1' }, NOW)).toMatchObject({ actorId: 'key_1' });
  });

  it.each([
    ['today', { from: local(2026, 10, 20) }],
    ['yesterday', { from: local(2026, 10, 19), to: local(2026, 10, 20) }],
    ['week', { from: local(2026, 10, 14) }],
    ['month', { from: local(2026, 9, 22) }],
  ] as const)('begin and end at midnight of the reader: %s', (time, range) => {
    expect(queryOf({ ...NONE, time }, NOW)).toEqual({ environment: 'live', ...range });
  });

  it('contain the last of chosen days as a whole', () => {
    const chosen = { ...NONE, time: 'custom' as const, from: '2026-11-02', to: '2026-11-03' };
    expect(queryOf(chosen, NOW)).toMatchObject({ from: local(2026, 10, 2), to: local(2026, 10, 4) });
    expect(queryOf({ ...chosen, from: '' }, NOW)).not.toHaveProperty('from');
  });
});

describe('entries of the audit log', () => {
  const entry = (changes: Partial<AuditEntry>): AuditEntry => ({
    id: 'aud_1',
    action: 'webhook.updated',
    actor: { type: 'user', id: 'ada', email: null },
    target: { type: 'webhook', id: 'whk_1' },
    changes: [],
    requestId: null,
    createdAt: local(2026, 10, 20),
    ...changes,
  });

  it('are grouped by days of the reader, in their order', () => {
    const [late, early, before] = [
      entry({ id: 'late', createdAt: new Date(2026, 10, 20, 23, 59).toISOString() }),
      entry({ id: 'early', createdAt: new Date(2026, 10, 20, 0, 1).toISOString() }),
      entry({ id: 'before', createdAt: new Date(2026, 10, 19, 23, 59).toISOString() }),
    ];
    const grouped = daysOf([late, early, before]);
    expect(grouped.map(({ items }) => items.map(({ id }) => id))).toEqual([['late', 'early'], ['before']]);
    expect(grouped.map(({ at }) => daysBefore(at, NOW.getTime()))).toEqual([0, 1]);
  });

  it.each([
    [entry({}), 'live', '/endpoints/whk_1'],
    [entry({}), 'sandbox', '/sandbox/endpoints/whk_1'],
    [entry({ action: 'webhook.deleted' }), 'live', undefined],
    [entry({ action: 'source.created', target: { type: 'source', id: 'src_1' } }), 'live', '/sources/src_1'],
    [
      entry({ action: 'api_key.revoked', target: { type: 'api_key', id: 'key_1' } }),
      'live',
      '/api-keys?key=key_1',
    ],
    [
      entry({
        action: 'redelivery.started',
        target: { type: 'redelivery', id: 'rdj_1' },
        changes: [{ field: 'webhookId', before: null, after: 'whk_2' }],
      }),
      'live',
      '/endpoints/whk_2',
    ],
    [
      entry({ action: 'channel.created', target: { type: 'channel', id: 'chn_1' } }),
      'live',
      '/channels/chn_1',
    ],
    [entry({ action: 'sandbox.reset', target: { type: 'sandbox', id: 'org_1' } }), 'live', '/sandbox'],
    [
      entry({ action: 'organization.updated', target: { type: 'organization', id: 'o' } }),
      'live',
      '/settings',
    ],
  ] as const)('lead to the page of what changed: case %#', (about, environment, path) => {
    expect(pathOfTarget(about, environment)).toBe(path);
  });

  it('call a thing what the entry calls it, then what it is called now, then by its identifier', () => {
    const names = new Map([['whk_1', 'https://now.example.com/']]);
    const changes = [{ field: 'url', before: 'https://then.example.com/', after: null }];
    expect(nameOfTarget(entry({ changes }), names)).toBe('https://then.example.com/');
    expect(nameOfTarget(entry({}), names)).toBe('https://now.example.com/');
    expect(nameOfTarget(entry({}), new Map())).toBe('whk_1');
  });
});
