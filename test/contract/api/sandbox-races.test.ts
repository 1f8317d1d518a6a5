import { describe, expect, it } from 'vitest';

import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import { put } from '../../../functions/aws/table.ts';
import { channelStore, MAX_CHANNELS } from '../../../functions/receivers/channels.ts';
import { MAX_ENDPOINTS } from '../../../functions/receivers/endpoint.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { createSandbox, type Pairing, type Sandbox } from '../../../functions/tenancy/organizations.ts';
import { purgeStore } from '../../../functions/tenancy/purge.ts';
import { anEndpoint, anHttpChannel, NOW } from '../../builders.ts';
import { rowsIn } from '../store/rows.ts';
import { SANDBOX_ORGANIZATION } from '../store/stores.ts';
import { useApi } from './owners.ts';

/*
 * Provisioning and resetting a sandbox while other requests do the same: the other requests run between the
 * functions and their tables.
 */
const { tables, api, commit, enrol } = useApi();
const KEY = { body: { name: 'Tests', scopes: ['write:webhooks'] } };

/** An admin of an organization. */
async function anAdmin() {
  const { orgId, admin } = await enrol();
  return { orgId, admin, ask: api.asker(await api.session(orgId)) };
}

/** Runs something once, after a function has read and before it commits. */
function beforeTheCommit(meanwhile: () => Promise<unknown>): void {
  let isOver = false;
  api.client.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        if (commandName === 'TransactWriteItemsCommand' && !isOver) {
          isOver = true;
          await meanwhile();
        }
        return next(call);
      },
    { step: 'initialize' },
  );
}

const rowsOf = async (orgId: OrgId) =>
  (await rowsIn(tables.service)).filter((row) => JSON.stringify(row).includes(orgId));

describe('provisioning', () => {
  it('issues only a key when another request has created the sandbox meanwhile', async () => {
    const { orgId, admin } = await anAdmin();
    let first: unknown;
    beforeTheCommit(async () => {
      first = await admin('provisionSandbox', KEY);
    });
    const second = await admin('provisionSandbox', KEY);

    const { sandboxOrganizationId } = Object(first);
    expect(first).toMatchObject({ provisioned: true });
    expect(second).toMatchObject({ sandboxOrganizationId, provisioned: false });
    expect(Object(second.key).secretOnce).toMatch(/^ck_sandbox_/);
    const rows = await rowsOf(orgId);
    expect(rows.filter(({ sk }) => sk === 'sandbox')).toHaveLength(1);
    expect(
      rows.filter(({ liveOrganizationId, sk }) => liveOrganizationId && sk === 'organization'),
    ).toHaveLength(1);
  });
});

describe('a reset', () => {
  it('makes all endpoints and channels active again, also at their limits', async () => {
    const { admin } = await anAdmin();
    const orgId = (await admin('provisionSandbox', KEY)).sandboxOrganizationId as OrgId;
    const failing = { orgId, consecutiveFailures: 10, status: 'auto_disabled' as const };
    for (let count = 0; count < MAX_ENDPOINTS; count += 1)
      await commit(
        ...endpointStore(tables.service).add(
          anEndpoint({ ...failing, url: `https://receiver-${count}.example.com/` }),
        ),
      );
    for (let count = 0; count < MAX_CHANNELS; count += 1)
      await commit(...channelStore(tables.service).add(anHttpChannel(failing)));

    await admin('resetSandbox');

    const receivers = (await rowsOf(orgId)).filter(({ sk }) => /^(whk|chn)_/.test(String(sk)));
    expect(receivers).toHaveLength(MAX_ENDPOINTS + MAX_CHANNELS);
    for (const receiver of receivers)
      expect(receiver).toMatchObject({ status: 'active', consecutiveFailures: 0 });
  });

  it('returns the time of a concurrent reset, and deletes nothing more', async () => {
    const { admin } = await anAdmin();
    const orgId = (await admin('provisionSandbox', KEY)).sandboxOrganizationId as OrgId;
    let first: unknown;
    beforeTheCommit(async () => {
      first = await admin('resetSandbox');
    });
    expect(await admin('resetSandbox')).toEqual(first);
    expect((await purgeStore(tables.service).of(orgId)).map(({ generation }) => generation)).toEqual([1]);
  });

  it('without a sandbox is refused and writes nothing', async () => {
    const { orgId, ask } = await anAdmin();
    const before = await rowsOf(orgId);
    expect(await ask('resetSandbox')).toMatchObject({
      status: 409,
      error: { type: 'SANDBOX_NOT_PROVISIONED' },
    });
    expect(await rowsOf(orgId)).toEqual(before);
  });
});

/** The rows of a live organization's sandbox. */
interface Stored {
  pairing: Pairing;
  sandbox?: Sandbox;
}
const other = createSandbox(newId('org', NOW), NOW);
const contradictions: [string, (own: { pairing: Pairing; sandbox: Sandbox }) => Stored][] = [
  ['names an organization that is no sandbox', ({ pairing }) => ({ pairing })],
  [
    'names a sandbox that names another organization',
    ({ pairing, sandbox }) => ({
      pairing,
      sandbox: { ...sandbox, liveOrganizationId: other.sandbox.liveOrganizationId },
    }),
  ],
  [
    'names another organization’s sandbox',
    ({ pairing }) => ({
      pairing: { ...pairing, sandboxOrganizationId: other.sandbox.id },
      sandbox: other.sandbox,
    }),
  ],
  ['is another organization’s', () => other],
];

describe.each(contradictions)('a pairing that %s', (_, contradict) => {
  it.each(['provisionSandbox', 'resetSandbox', 'readSandbox'] as const)(
    'makes %s fail without effect',
    async (route) => {
      const { orgId, ask } = await anAdmin();
      const { pairing, sandbox } = contradict(createSandbox(orgId, NOW));
      await put(tables.service, { ...keys.pairing(orgId), ...pairing });
      if (sandbox)
        await put(tables.service, { ...keys.organization(sandbox.id), ...SANDBOX_ORGANIZATION, ...sandbox });
      const before = await rowsOf(orgId);

      expect(await ask(route, route === 'provisionSandbox' ? KEY : {})).toMatchObject({ status: 500 });
      expect(await rowsOf(orgId)).toEqual(before);
    },
  );
});
