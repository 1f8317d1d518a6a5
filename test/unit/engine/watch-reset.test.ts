import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId, type OrgId } from '../../../functions/domain/ids.ts';
import { type DeliveryChange, sumChanges } from '../../../functions/domain/ledger.ts';
import { aDelivery, NOW } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { aWatch, inOrder, SHARD, sequenced } from './a-watch.ts';

const orgId = newId('org', NOW);

const added = (tenant: { orgId: OrgId; generation: number }): DeliveryChange => ({
  kind: 'added',
  delivery: aDelivery(tenant),
});

/** A watch over a sandbox. */
function aSandboxWatch(replaced: Parameters<typeof aWatch>[0] = {}) {
  const service = aWatch(replaced);
  service.standings.makeSandbox(orgId);
  return service;
}

describe('following the deliveries of a sandbox', () => {
  it('counts those of its generation, with whose they are, and watches them', async () => {
    const { run, ledger, deliveries } = aSandboxWatch();
    const change = added({ orgId, generation: 1 });
    await deliveries.add(change.delivery);

    await run(SHARD, sequenced([change]));

    expect(ledger.every).toMatchObject([{ orgId, generation: 1, owed: 1 }]);
    expect(deliveries.due).toHaveLength(1);
  });

  it('counts and watches nothing that a reset has wiped, and says nothing', async () => {
    const { run, ledger, deliveries, standings, log } = aSandboxWatch();
    const change = added({ orgId, generation: 1 });
    await deliveries.add(change.delivery);
    standings.reset(orgId);

    await run(SHARD, sequenced([change]));

    expect(ledger.every).toEqual([]);
    expect(deliveries.due).toEqual([]);
    expect(log.entries).toEqual([]);
  });

  it('counts what counts and nothing else, whatever stands in a batch', async () => {
    const orgs = Array.from({ length: 3 }, () => newId('org', NOW));
    const changes = fc.array(
      fc.record({
        org: fc.nat({ max: 2 }),
        generation: fc.nat({ max: 3 }),
        ended: fc.boolean(),
      }),
      { maxLength: 30 },
    );
    const histories = fc.array(fc.constantFrom('live', 0, 1, 2, 'unknown'), {
      minLength: 3,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(changes, histories, async (all, kinds) => {
        const { run, ledger, standings } = aWatch();
        for (const [index, kind] of kinds.entries()) {
          const org = orgs[index] ?? orgId;
          if (kind === 'unknown') standings.forget(org);
          if (typeof kind !== 'number') continue;
          standings.makeSandbox(org);
          for (let reset = 0; reset < kind; reset += 1) standings.reset(org);
        }
        const stream = all.map(({ org, generation, ended }): DeliveryChange => {
          const change = added({ orgId: orgs[org] ?? orgId, generation });
          return ended
            ? { kind: 'ended', delivery: { ...change.delivery, status: 'succeeded', attempts: 1 } }
            : change;
        });

        await run(SHARD, sequenced(stream));

        // Live data is taken for what it says it is, so that it costs nothing.
        const counts = stream.filter(({ delivery }) => {
          const kind = kinds[orgs.indexOf(delivery.orgId)];
          if (delivery.generation === 0) return true;
          return typeof kind === 'number' && delivery.generation === kind + 1;
        });
        expect(inOrder(ledger.every)).toEqual(inOrder(sumChanges(counts)));
      }),
    );
  });

  it('does not let one tenant that nothing is known of stop the shard, and says so once', async () => {
    const { run, ledger, standings, log, deliveries } = aSandboxWatch();
    const unknown = newId('org', NOW);
    standings.forget(unknown);
    const counted = [added({ orgId, generation: 1 }), added({ orgId: newId('org', NOW), generation: 0 })];
    const lost = [added({ orgId: unknown, generation: 1 }), added({ orgId: unknown, generation: 1 })];
    const stream = [...lost, ...counted];
    for (const { delivery } of stream) await deliveries.add(delivery);

    await run(SHARD, sequenced(stream));

    expect(inOrder(ledger.every)).toEqual(inOrder(sumChanges(counted)));
    expect(log.entries.filter(({ level }) => level === 'error')).toHaveLength(1);
    // Not counted is not forgotten: what is open comes up again.
    expect(deliveries.due).toHaveLength(4);
  });

  it('watches what is open all the same, so that a lost message of it is noticed', async () => {
    const { run, ledger, standings, deliveries } = aSandboxWatch();
    standings.forget(orgId);
    const change = added({ orgId, generation: 1 });
    await deliveries.add(change.delivery);

    await run(SHARD, sequenced([change]));

    expect(deliveries.due).toMatchObject([{ due: { state: 'watched' } }]);
    expect(ledger.every).toEqual([]);
  });

  it('does not count what is of a newer generation than it knows', async () => {
    const { run, ledger, log } = aSandboxWatch();

    await run(SHARD, sequenced([added({ orgId, generation: 2 })]));

    expect(ledger.every).toEqual([]);
    expect(log.entries.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it('processes the others, then fails the batch, when an organization cannot be read', async () => {
    const { run, ledger, deliveries } = aSandboxWatch({
      organizations: { of: () => Promise.reject(new Error('the table is throttled')) },
    });
    const live = added({ orgId: newId('org', NOW), generation: 0 });
    const sandbox = added({ orgId, generation: 1 });
    for (const { delivery } of [live, sandbox]) await deliveries.add(delivery);

    await expect(run(SHARD, sequenced([sandbox, live]))).rejects.toThrow('throttled');

    expect(inOrder(ledger.every)).toEqual(inOrder(sumChanges([live])));
    expect(deliveries.due.map(({ delivery }) => delivery.id)).toEqual([live.delivery.id]);
  });
});

describe('what following the deliveries asks for', () => {
  it('is nothing for live ones, and each generation of a sandbox once in a batch', async () => {
    const standings = memoryOrganizationStates();
    standings.makeSandbox(orgId);
    const asked: OrgId[] = [];
    const { run } = aWatch({
      organizations: {
        of(id) {
          asked.push(id);
          return standings.of(id);
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
