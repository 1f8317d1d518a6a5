import { describe, expect, it } from 'vitest';
import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import { type DeliveryChange, sumChanges } from '../../../functions/delivery/ledger.ts';
import { aDelivery, NOW } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { aDeliveryStream, inOrder, SHARD, sequenced } from './delivery-stream-fixture.ts';

const orgId = newId('org', NOW);

const added = (tenant: { orgId: OrgId; generation: number }): DeliveryChange => ({
  kind: 'added',
  delivery: aDelivery(tenant),
});

/** The delivery stream's worker, with a sandbox. */
function aSandboxStream(replaced: Parameters<typeof aDeliveryStream>[0] = {}) {
  const service = aDeliveryStream(replaced);
  service.states.makeSandbox(orgId);
  return service;
}

describe('delivery stream of a sandbox', () => {

  it('neither counts nor indexes nor logs deliveries that a reset has deleted', async () => {
    const { run, ledger, deliveries, states, log } = aSandboxStream();
    const change = added({ orgId, generation: 1 });
    await deliveries.add(change.delivery);
    states.reset(orgId);

    await run(SHARD, sequenced([change]));

    expect(await ledger.every()).toEqual([]);
    expect(deliveries.due).toEqual([]);
    expect(log.entries).toEqual([]);
  });

  it('is not stopped by an unknown tenant, and logs it once', async () => {
    const { run, ledger, states, log, deliveries } = aSandboxStream();
    const unknown = newId('org', NOW);
    states.forget(unknown);
    const counted = [added({ orgId, generation: 1 }), added({ orgId: newId('org', NOW), generation: 0 })];
    const lost = [added({ orgId: unknown, generation: 1 }), added({ orgId: unknown, generation: 1 })];
    const stream = [...lost, ...counted];
    for (const { delivery } of stream) await deliveries.add(delivery);

    await run(SHARD, sequenced(stream));

    expect(inOrder(await ledger.every())).toEqual(inOrder(sumChanges(counted)));
    expect(log.entries.filter(({ level }) => level === 'error')).toHaveLength(1);
    // The due index still has the deliveries that were not counted.
    expect(deliveries.due).toHaveLength(4);
  });

  it('does not count deliveries of a newer generation than the stored one', async () => {
    const { run, ledger, log } = aSandboxStream();

    await run(SHARD, sequenced([added({ orgId, generation: 2 })]));

    expect(await ledger.every()).toEqual([]);
    expect(log.entries.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it('processes the others, then fails the batch, when an organization cannot be read', async () => {
    const { run, ledger, deliveries } = aSandboxStream({
      organizations: { of: () => Promise.reject(new Error('the table is throttled')) },
    });
    const live = added({ orgId: newId('org', NOW), generation: 0 });
    const sandbox = added({ orgId, generation: 1 });
    for (const { delivery } of [live, sandbox]) await deliveries.add(delivery);

    await expect(run(SHARD, sequenced([sandbox, live]))).rejects.toThrow('throttled');

    expect(inOrder(await ledger.every())).toEqual(inOrder(sumChanges([live])));
    expect(deliveries.due.map(({ delivery }) => delivery.id)).toEqual([live.delivery.id]);
  });
});

describe('organization reads of the delivery stream', () => {
  it('are none for live deliveries, and one for each generation of a sandbox in a batch', async () => {
    const states = memoryOrganizationStates();
    states.makeSandbox(orgId);
    const asked: OrgId[] = [];
    const { run } = aDeliveryStream({
      organizations: {
        of(id) {
          asked.push(id);
          return states.of(id);
        },
      },
    });
    const live = { orgId: newId('org', NOW), generation: 0 };

    await run(
      SHARD,
      sequenced([
        added(live),
        ...Array.from({ length: 20 }, () => added({ orgId, generation: 1 })),
        added(live),
      ]),
    );

    expect(asked).toEqual([orgId]);
  });
});
