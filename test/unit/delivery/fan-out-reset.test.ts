import { describe, expect, it } from 'vitest';
import type { OrgId } from '../../../functions/aws/ids.ts';
import { aDelivery, anEvent, aTenant } from '../../builders.ts';
import {
  type MemoryOrganizationStates,
  memoryOrganizationStates,
} from '../../doubles/memory-organization-states.ts';
import { aFanOut, anOrder, ours, owing, tenant } from './fan-out-fixture.ts';

const sandbox = aTenant({ ...tenant, generation: 1 });
/** One outbox work item of each kind, for a generation. */
const buildWork = (generation: number) => [
  owing(anEvent({ tenant: { ...sandbox, generation } })),
  anOrder(aDelivery({ ...sandbox, generation })),
];

function aSandboxFanOut() {
  const service = aFanOut([ours(), ours()]);
  service.states.makeSandbox(sandbox.orgId);
  return service;
}

/** A fan-out that cannot read one organization. */
function withUnreadable(unreadable: OrgId, states: MemoryOrganizationStates = memoryOrganizationStates()) {
  return aFanOut([ours()], {
    organizations: {
      async of(orgId) {
        if (orgId === unreadable) throw new Error('the table is throttled');
        return states.of(orgId);
      },
    },
  });
}

describe('fan-out of a sandbox', () => {
  it('adds deliveries of its generation and sends their messages', async () => {
    const { run, deliveries, sent } = aSandboxFanOut();

    expect(await run(buildWork(1))).toEqual([]);

    expect(deliveries.every).toMatchObject([{ generation: 1 }, { generation: 1 }]);
    expect(sent).toMatchObject([{ generation: 1 }, { generation: 1 }, { generation: 1 }]);
  });

  it('drops work that a reset has deleted, without a log line', async () => {
    const { run, states, deliveries, sent, log } = aSandboxFanOut();
    states.reset(sandbox.orgId);

    expect(await run(buildWork(1))).toEqual([]);

    expect(deliveries.every).toEqual([]);
    expect(sent).toEqual([]);
    expect(log.entries).toEqual([]);
  });

  it('processes work of the generation after the reset', async () => {
    const { run, states, deliveries, sent } = aSandboxFanOut();
    states.reset(sandbox.orgId);
    const [event, order] = buildWork(2);
    if (event === undefined || order === undefined) throw new Error('two work items expected');

    expect(await run([...buildWork(1), event, order])).toEqual([]);

    expect(deliveries.every).toHaveLength(2);
    for (const { generation } of [...deliveries.every, ...sent]) expect(generation).toBe(2);
  });

  it('repeats work of a newer generation than the stored one', async () => {
    const { run, deliveries, sent } = aSandboxFanOut();
    const work = buildWork(2);

    expect(await run(work)).toEqual(work);

    expect(deliveries.every).toEqual([]);
    expect(sent).toEqual([]);
  });
});

describe('fan-out of several organizations', () => {
  it('repeats the work of an unknown one, and processes the others', async () => {
    const { run, states, deliveries, log } = aFanOut([ours()]);
    const [unknown, other] = [owing(anEvent()), owing(anEvent({ tenant }))];
    states.forget(unknown.event.orgId);

    expect(await run([unknown, other])).toEqual([unknown]);

    expect(deliveries.every).toMatchObject([{ eventId: other.event.id }]);
    expect(log.trouble()).toMatchObject([{ level: 'error', fields: { eventId: unknown.event.id } }]);
  });

  it('repeats the work of an unreadable one, and processes the others', async () => {
    const [unreadable, other] = [owing(anEvent()), owing(anEvent({ tenant }))];
    const { run, deliveries } = withUnreadable(unreadable.event.orgId);

    expect(await run([unreadable, other])).toEqual([unreadable]);

    expect(deliveries.every).toMatchObject([{ eventId: other.event.id }]);
  });
});
