import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import {
  isMetered,
  meterUsage,
  sumUsage,
  type UsageMeter,
  usageMeter,
  usageReader,
} from '../../../functions/events/usage.ts';
import { type Gate, gate } from '../../../functions/tenancy/gate.ts';
import { aBusEvent, aTenant, NOW } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';

interface Replaced {
  gate?: Gate;
  count?: UsageMeter['count'];
  throttled?: OrgId | undefined;
}

/** The meter over the real store. All organizations are live except those that a test makes sandboxes. */
function aMeter({ throttled, ...replaced }: Replaced = {}) {
  const standings = memoryOrganizationStates();
  const table = memoryTables().usage;
  const meter = { ...usageMeter(table), ...replaced };
  const usage: UsageMeter = {
    count: async (events, permit) => {
      if (permit.orgId === throttled) throw new Error('throttled');
      return meter.count(events, permit);
    },
  };
  const log = recordedLog();
  const count = meterUsage({ gate: gate(standings.of), usage, log, ...replaced });
  const read = usageReader(table);
  const of = async (organization: OrgId) =>
    Object.fromEntries(await read(organization, { from: '2026-01', to: '2026-12' }));
  return { count, of, standings, log };
}

const { orgId } = aTenant();
const message = (of = orgId) => aBusEvent({ orgId: of });
const conversation = (of = orgId) => aBusEvent({ orgId: of, type: 'conversation.created' });

describe('meter', () => {
  it('counts the usage of live organizations separately', async () => {
    const { count, of } = aMeter();
    const other = newId('org', NOW);

    expect(await count([message(), conversation(), message(other), message()])).toEqual([]);

    expect(await of(orgId)).toEqual({ '2026-11': { conversations: 1, messages: 2 } });
    expect(await of(other)).toEqual({ '2026-11': { conversations: 0, messages: 1 } });
  });

  it('counts nothing of a sandbox, and does not repeat its events', async () => {
    const { count, of, standings, log } = aMeter();
    standings.makeSandbox(orgId);

    expect(await count([aBusEvent({ orgId, generation: 1 }), message()])).toEqual([]);

    expect(await of(orgId)).toEqual({});
    expect(log.entries).toEqual([]);
  });

  it('counts an event once, even when it arrives several times', async () => {
    const { count, of } = aMeter();
    const event = message();

    await count([event, event]);
    await count([event]);

    expect(await of(orgId)).toEqual({ '2026-11': { conversations: 0, messages: 1 } });
  });

  it('ignores events that are not metered', async () => {
    const { count, of } = aMeter();

    expect(await count([aBusEvent({ orgId, type: 'ticket.created' })])).toEqual([]);

    expect(await of(orgId)).toEqual({});
  });

  it('repeats events of unknown organizations, and counts the others', async () => {
    const { count, of, standings, log } = aMeter();
    const unknown = newId('org', NOW);
    standings.forget(unknown);
    const failing = [message(unknown), conversation(unknown)];

    expect(await count([message(), ...failing])).toEqual(failing);

    expect(await of(orgId)).toEqual({ '2026-11': { conversations: 0, messages: 1 } });
    expect(log.entries).toMatchObject([{ level: 'error', fields: { orgId: unknown, events: 2 } }]);
  });

  it('repeats every copy of an event that could not be counted, and nothing else', async () => {
    const unlucky = message();
    const { count, log } = aMeter({
      count: async (events) => events.filter(({ id }) => id === unlucky.id),
    });

    expect(await count([message(), unlucky, conversation(), unlucky])).toEqual([unlucky, unlucky]);

    expect(log.entries).toMatchObject([{ level: 'error', fields: { orgId } }]);
  });

  it('does nothing for an empty batch', async () => {
    const { count } = aMeter({
      gate: async () => {
        throw new Error('unexpected read of an organization');
      },
    });

    expect(await count([])).toEqual([]);
  });

  it('counts or repeats every event of a live organization, but never both', async () => {
    const organizations = ['live', 'live', 'sandbox', 'unknown', 'failing'] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ of: fc.nat(4), isMessage: fc.boolean() }), { maxLength: 30 }),
        async (shapes) => {
          const ids = organizations.map(() => newId('org', NOW));
          const { count, of, standings } = aMeter({ throttled: ids[4] });
          const [, , sandbox = orgId, unknown = orgId] = ids;
          standings.makeSandbox(sandbox);
          standings.forget(unknown);
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
