import { describe, expect, it } from 'vitest';
import { aDelivery, anEvent, aTenant } from '../../builders.ts';
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

describe('fan-out of a sandbox', () => {

  it('drops work that a reset has deleted, without a log line', async () => {
    const { run, states, deliveries, sent, log } = aSandboxFanOut();
    states.reset(sandbox.orgId);

    expect(await run(buildWork(1))).toEqual([]);

    expect(deliveries.every).toEqual([]);
    expect(sent).toEqual([]);
    expect(log.entries).toEqual([]);
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
});
