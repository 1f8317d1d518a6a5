import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import { EVENT_CATALOGUE, type EventType } from '../../../functions/events/events.ts';
import {
  addUsage,
  getLatestMonths,
  isMetered,
  METERED_TYPES,
  type MeteredEvent,
  meterUsage,
  NO_USAGE,
  sumUsage,
  toMonth,
  type UsageCounts,
  type UsageMeter,
  usageMeter,
  usageReader,
} from '../../../functions/events/usage.ts';
import { type Gate, gate } from '../../../functions/tenancy/gate.ts';
import { aBusEvent, aTenant, NOW } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { recentTimes } from '../aws/arbitraries.ts';

const events: fc.Arbitrary<MeteredEvent[]> = fc.array(
  fc.record({
    id: fc.uuid(),
    type: fc.constantFrom(...METERED_TYPES),
    createdAt: recentTimes.map((time) => time.toISOString()),
  }),
  { maxLength: 30 },
);
const total = (months: Map<string, UsageCounts>): UsageCounts =>
  [...months.values()].reduce(addUsage, NO_USAGE);

describe('metered usage', () => {
  it('consists of new conversations and messages', () => {
    const types = Object.keys(EVENT_CATALOGUE) as EventType[];
    expect(types.filter((type) => isMetered({ type }))).toEqual(['conversation.created', 'message.received']);
    expect(isMetered(aBusEvent({ type: 'source.changed' }))).toBe(false);
  });

  it('counts every message, of any role', () => {
    const messages = (['user', 'assistant', 'agent', 'system'] as const).map((role) =>
      aBusEvent({ data: { role } }),
    );
    expect(total(sumUsage(messages.filter(isMetered)))).toEqual({ conversations: 0, messages: 4 });
  });

  it('counts each event in its month and by its type', () => {
    fc.assert(
      fc.property(events, (given) => {
        const months = sumUsage(given);
        const of = (type: string) => given.filter((event) => event.type === type).length;
        expect(total(months)).toEqual({
          conversations: of('conversation.created'),
          messages: of('message.received'),
        });
        expect(new Set(months.keys())).toEqual(
          new Set(given.map(({ createdAt }) => createdAt.slice(0, '2026-11'.length))),
        );
      }),
    );
  });
});

describe('months', () => {
  it.each([
    ['2026-10-31T23:59:59.999Z', '2026-10'],
    ['2026-11-01T00:00:00.000Z', '2026-11'],
    ['2027-01-01T00:00:00.000Z', '2027-01'],
  ])('%s is in %s', (time, month) => {
    expect(toMonth(new Date(time))).toBe(month);
  });

  it('go back without a gap or a repetition, from any day', () => {
    fc.assert(
      fc.property(recentTimes, fc.integer({ min: 1, max: 24 }), (now, count) => {
        const months = getLatestMonths(now, count);
        expect(months[0]).toBe(toMonth(now));
        const numbers = months.map((month) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5)));
        expect(numbers).toEqual(Array.from({ length: count }, (_, back) => Number(numbers[0]) - back));
      }),
    );
  });
});

interface Replaced {
  gate?: Gate;
  count?: UsageMeter['count'];
  throttled?: OrgId | undefined;
}

/** The meter over the real store. All organizations are live except those that a test makes sandboxes. */
function aMeter({ throttled, ...replaced }: Replaced = {}) {
  const states = memoryOrganizationStates();
  const table = memoryTables().usage;
  const meter = { ...usageMeter(table), ...replaced };
  const usage: UsageMeter = {
    count: async (events, permit) => {
      if (permit.orgId === throttled) throw new Error('throttled');
      return meter.count(events, permit);
    },
  };
  const log = recordedLog();
  const count = meterUsage({ gate: gate(states.of), usage, log, ...replaced });
  const read = usageReader(table);
  const of = async (organization: OrgId) =>
    Object.fromEntries(await read(organization, { from: '2026-01', to: '2026-12' }));
  return { count, of, states, log };
}

const { orgId } = aTenant();
const message = (of = orgId) => aBusEvent({ orgId: of });
const conversation = (of = orgId) => aBusEvent({ orgId: of, type: 'conversation.created' });

describe('meter', () => {
  it('ignores events that are not metered', async () => {
    const { count, of } = aMeter();

    expect(await count([aBusEvent({ orgId, type: 'ticket.created' })])).toEqual([]);

    expect(await of(orgId)).toEqual({});
  });

  it('repeats every copy of an event that could not be counted, and nothing else', async () => {
    const unlucky = message();
    const { count, log } = aMeter({
      count: async (events) => events.filter(({ id }) => id === unlucky.id),
    });

    expect(await count([message(), unlucky, conversation(), unlucky])).toEqual([unlucky, unlucky]);

    expect(log.entries).toMatchObject([{ level: 'error', fields: { orgId } }]);
  });

  it('counts or repeats every event of a live organization, but never both', async () => {
    const organizations = ['live', 'live', 'sandbox', 'unknown', 'failing'] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ of: fc.nat(4), isMessage: fc.boolean() }), { maxLength: 30 }),
        async (shapes) => {
          const ids = organizations.map(() => newId('org', NOW));
          const { count, of, states } = aMeter({ throttled: ids[4] });
          const [, , sandbox = orgId, unknown = orgId] = ids;
          states.makeSandbox(sandbox);
          states.forget(unknown);
          const events = shapes.map(({ of, isMessage }) =>
            isMessage ? message(ids[of]) : conversation(ids[of]),
          );

          const again = await count(events);

          expect(again).toEqual(events.filter((event) => [ids[3], ids[4]].includes(event.orgId)));
          for (const id of ids.slice(0, 2)) {
            const theirs = events.filter((event) => event.orgId === id).filter(isMetered);
            expect(await of(id)).toEqual(Object.fromEntries(sumUsage(theirs)));
          }
          expect(await of(sandbox)).toEqual({});
        },
      ),
    );
  });
});
