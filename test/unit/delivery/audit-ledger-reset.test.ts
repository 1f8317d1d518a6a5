import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { NOW } from '../../builders.ts';
import { aLedgerAudit, hoursAgo, IN_FULL } from './ledger-audit-fixture.ts';

const sandbox = { orgId: newId('org', NOW), webhookId: newId('whk', NOW), generation: 1 };

/** An hour of a sandbox that the ledger has counted and whose deliveries are gone. */
async function aPurgedHour(changes: Parameters<typeof aLedgerAudit>[0] = {}) {
  const setting = aLedgerAudit(changes);
  setting.states.makeSandbox(sandbox.orgId);
  const counted = await aLedgerAudit().add(hoursAgo(98), sandbox);
  await setting.count(counted);
  return setting;
}

describe('ledger audit of a sandbox', () => {
  it('corrects a difference in the present generation', async () => {
    const { run, ledger } = await aPurgedHour();

    expect(await run(IN_FULL)).toMatchObject({ differing: 1 });

    expect(await ledger.every()).toMatchObject([{ owed: 0 }]);
  });

  it('ignores a generation that a reset is deleting', async () => {
    const { run, states, ledger, log } = await aPurgedHour();
    states.reset(sandbox.orgId);
    const before = await ledger.every();

    expect(await run(IN_FULL)).toMatchObject({ differing: 0, open: 0 });

    expect(await ledger.every()).toEqual(before);
    expect(log.entries).toEqual([]);
  });

  it('audits an unknown organization like any other, and continues', async () => {
    const { run, states, add, count } = await aPurgedHour();
    states.forget(sandbox.orgId);
    for (let number = 0; number < 20; number += 1) await count(await add(hoursAgo(98)));

    expect(await run(IN_FULL)).toMatchObject({ entries: 21, open: 20, differing: 1, complete: true });
  });

  it('fails when an organization cannot be read, and reads none where the counts agree', async () => {
    const states = { of: () => Promise.reject(new Error('the table is throttled')) };
    await expect((await aPurgedHour({ organizations: states })).run(IN_FULL)).rejects.toThrow('throttled');

    const { run, addEnded, count } = aLedgerAudit({ organizations: states });
    await count(await addEnded(hoursAgo(98), sandbox));
    expect(await run(IN_FULL)).toMatchObject({ entries: 1, differing: 0 });
  });
});
