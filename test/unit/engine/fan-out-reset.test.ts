import { describe, expect, it } from 'vitest';
import type { OrgId } from '../../../functions/domain/ids.ts';
import { aDelivery, anEvent, aTenant } from '../../builders.ts';
import {
  type MemoryOrganizationStates,
  memoryOrganizationStates,
} from '../../doubles/memory-organization-states.ts';
import { aFanOut, anOrder, ours, owing, tenant } from './a-fan-out.ts';

const sandbox = aTenant({ ...tenant, generation: 1 });
/** All that the outbox may owe of a generation. */
const owedOf = (generation: number) => [
  owing(anEvent({ tenant: { ...sandbox, generation } })),
  anOrder(aDelivery({ ...sandbox, generation })),
];

function aSandboxFanOut() {
  const service = aFanOut([ours(), ours()]);
  service.standings.makeSandbox(sandbox.orgId);
  return service;
}

/** Fan-out that cannot read what one organization is. */
function withUnreadable(unreadable: OrgId, standings: MemoryOrganizationStates = memoryOrganizationStates()) {
  return aFanOut([ours()], {
    organizations: {
      async of(orgId) {
        if (orgId === unreadable) throw new Error('the table is throttled');
        return standings.of(orgId);
      },
    },
  });
}

describe('fan-out of a sandbox', () => {
  it('adds deliveries of its generation, and reminds of them', async () => {
    const { run, deliveries, sent } = aSandboxFanOut();

    expect(await run(owedOf(1))).toEqual([]);

    expect(deliveries.every).toMatchObject([{ generation: 1 }, { generation: 1 }]);
    expect(sent).toMatchObject([{ generation: 1 }, { generation: 1 }, { generation: 1 }]);
  });

  it('drops what a reset has wiped, without a trace', async () => {
    const { run, standings, deliveries, sent, log } = aSandboxFanOut();
    standings.reset(sandbox.orgId);

    expect(await run(owedOf(1))).toEqual([]);

    expect(deliveries.every).toEqual([]);
    expect(sent).toEqual([]);
    expect(log.entries).toEqual([]);
  });

  it('deals with what came after the reset all the same', async () => {
    const { run, standings, deliveries, sent } = aSandboxFanOut();
    standings.reset(sandbox.orgId);
    const [event, order] = owedOf(2);
    if (event === undefined || order === undefined) throw new Error('two were to be owed');

    expect(await run([...owedOf(1), event, order])).toEqual([]);

    expect(deliveries.every).toHaveLength(2);
    for (const { generation } of [...deliveries.every, ...sent]) expect(generation).toBe(2);
  });

  it('repeats what is of a newer generation than it knows', async () => {
    const { run, deliveries, sent } = aSandboxFanOut();
    const owed = owedOf(2);

    expect(await run(owed)).toEqual(owed);

    expect(deliveries.every).toEqual([]);
    expect(sent).toEqual([]);
  });
});

describe('fan-out for an organization', () => {
  it('that nothing is known of is repeated, and the others are dealt with', async () => {
    const { run, standings, deliveries, log } = aFanOut([ours()]);
    const [unknown, other] = [owing(anEvent()), owing(anEvent({ tenant }))];
    standings.forget(unknown.event.orgId);

    expect(await run([unknown, other])).toEqual([unknown]);

    expect(deliveries.every).toMatchObject([{ eventId: other.event.id }]);
    expect(log.trouble()).toMatchObject([{ level: 'error', fields: { eventId: unknown.event.id } }]);
  });

  it('that cannot be read is repeated, and the others are dealt with', async () => {
    const [unreadable, other] = [owing(anEvent()), owing(anEvent({ tenant }))];
    const { run, deliveries } = withUnreadable(unreadable.event.orgId);

    expect(await run([unreadable, other])).toEqual([unreadable]);

    expect(deliveries.every).toMatchObject([{ eventId: other.event.id }]);
  });
});
