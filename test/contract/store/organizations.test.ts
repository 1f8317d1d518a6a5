import { describe, expect, it } from 'vitest';
import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import { put } from '../../../functions/aws/table.ts';
import { type CommitResult, Contended, committer } from '../../../functions/aws/transaction.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import {
  createSandbox,
  organizationStore,
  readOrganizationState,
  sandboxStore,
} from '../../../functions/tenancy/organizations.ts';
import type { OrganizationSettings } from '../../../functions/tenancy/tenant.ts';
import { anOrganization, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { conflictOnOverlap } from './faults.ts';
import { rowsIn } from './rows.ts';
import { SANDBOX_ORGANIZATION } from './stores.ts';

const engine = dynamoDb();

async function organizations() {
  const { service } = await engine.tables();
  const store = organizationStore(service);
  const commit = committer(service.client);
  return {
    ...store,
    service,
    async enrol(organization = anOrganization()) {
      expect(await commit([store.add(organization)])).toEqual({ kind: 'committed' });
      return organization;
    },
    /** As the route changes the settings. */
    async change(id: OrgId, settings: Partial<OrganizationSettings>) {
      const stored = await store.find(id);
      return stored && commit([store.buildUpdate(stored, settings)]);
    },
    commit,
  };
}

describe('an organization', () => {
  it('is not added twice', async () => {
    const { find, enrol, add, commit } = await organizations();
    const organization = await enrol();

    const refused = { kind: 'refused', refusal: 'exists' };
    expect(await commit([add({ ...organization, name: 'Another' })])).toEqual(refused);

    expect(await find(organization.id)).toEqual(organization);
  });
});

describe('a change of the settings', () => {
  it('is possible from the defaults of an organization without settings', async () => {
    const { find, change, service } = await organizations();
    const { contentChangeThreshold, contentChangeNotifications, ...early } = anOrganization();
    await put(service, { ...keys.organization(early.id), ...early });

    expect(await change(early.id, { contentChangeThreshold: 5 })).toEqual({ kind: 'committed' });
    expect(await find(early.id)).toMatchObject({ contentChangeThreshold: 5 });
  });

  it('does not overwrite a concurrent change of another setting', async () => {
    const { find, enrol, change } = await organizations();
    const organization = await enrol();
    const changes = { contentChangeThreshold: 55.5, contentChangeNotifications: false };

    await Promise.all(
      Object.entries(changes).map(([name, value]) => change(organization.id, { [name]: value })),
    );

    expect(await find(organization.id)).toEqual({ ...organization, ...changes });
  });

  it('creates no organization', async () => {
    const { find, buildUpdate, service } = await organizations();
    const absent = anOrganization();

    const result = await committer(service.client)([buildUpdate(absent, { contentChangeThreshold: 5 })]);

    expect(result).toEqual({ kind: 'refused', refusal: 'organization-changed' });
    expect(await find(absent.id)).toBeUndefined();
  });
});

const LATER = later(NOW, seconds(60));

/** A live organization without a sandbox. */
async function aLiveOrganization(client = engine.client()) {
  const { service } = await engine.tables(client);
  const store = sandboxStore(service);
  const commit = committer(client);
  const live = anOrganization();
  await commit([organizationStore(service).add(live)]);

  return {
    live,
    find: () => store.find(live.id),
    state: readOrganizationState(service),
    /** As provisioning creates it, each time with another sandbox. */
    create(made = createSandbox(live.id, NOW)): Promise<CommitResult> {
      return commit(store.create(made.pairing, made.sandbox, SANDBOX_ORGANIZATION));
    },
    reset: (orgId: `org_${string}`, generation: number, now = LATER) =>
      commit([store.nextGeneration({ orgId, generation }, now)]),
    rows: () => rowsIn(service),
  };
}

const EXISTS = { kind: 'refused', refusal: 'sandbox-exists' };
const OVER = { kind: 'refused', refusal: 'generation-over' };
const isCommitted = ({ kind }: CommitResult) => kind === 'committed';
const isSandbox = ({ environment }: Record<string, unknown>) => environment === 'sandbox';

/** As a client retries a 503. */
async function retryUntilAnswered(commit: () => Promise<CommitResult>): Promise<CommitResult> {
  for (;;) {
    const result = await commit().catch((error: unknown) => {
      if (error instanceof Contended) return undefined;
      throw error;
    });
    if (result !== undefined) return result;
  }
}

describe('the sandbox of an organization', () => {
  it('is found by its live organization, at its first generation', async () => {
    const { live, find, state, create } = await aLiveOrganization();
    const made = createSandbox(live.id, NOW);

    expect(await create(made)).toEqual({ kind: 'committed' });

    expect(await find()).toEqual(made);
    expect(await state(made.sandbox.id)).toEqual({
      environment: 'sandbox',
      tier: 'sandbox',
      generation: 1,
    });
    expect(await state(live.id)).toMatchObject({ environment: 'live', generation: 0 });
  });

  it('is created by one of fifty at once whose transactions conflict', async () => {
    const client = engine.client();
    const { find, create, rows } = await aLiveOrganization(client);
    const conflicts = conflictOnOverlap(client);

    const results = await Promise.all(Array.from({ length: 50 }, () => retryUntilAnswered(create)));

    expect(conflicts.count()).toBeGreaterThan(0);
    expect(results.filter(isCommitted)).toHaveLength(1);
    expect(results.filter((result) => !isCommitted(result))).toEqual(
      Array.from({ length: 49 }, () => EXISTS),
    );
    const organizations = (await rows()).filter(isSandbox);
    expect(organizations.map(({ id }) => id)).toEqual([(await find()).sandbox?.id]);
  });
});

describe('the next generation of a sandbox', () => {
  it('replaces the current one, and nothing else of the organization changes', async () => {
    const { live, find, create, reset, rows } = await aLiveOrganization();
    const made = createSandbox(live.id, NOW);
    await create(made);
    const before = (await rows()).find(isSandbox);

    expect(await reset(made.sandbox.id, 1)).toEqual({ kind: 'committed' });

    const resetAt = LATER.toISOString();
    expect(await find()).toEqual({
      pairing: made.pairing,
      sandbox: { ...made.sandbox, generation: 2, resetAt },
    });
    expect((await rows()).find(isSandbox)).toEqual({ ...before, generation: 2, resetAt });
  });

  it.each([
    ['has moved already', 0],
    ['is not there yet', 2],
  ])('does not start from one that %s', async (_why, generation) => {
    const { live, find, create, reset } = await aLiveOrganization();
    const made = createSandbox(live.id, NOW);
    await create(made);

    expect(await reset(made.sandbox.id, generation)).toEqual(OVER);

    expect(await find()).toEqual(made);
  });

  it('does not start without a sandbox: neither for a live organization nor for none', async () => {
    const { live, state, reset, rows } = await aLiveOrganization();
    const before = await rows();

    expect(await reset(live.id, 0)).toEqual(OVER);
    expect(await reset(newId('org', NOW), 1)).toEqual(OVER);

    expect(await rows()).toEqual(before);
    expect(await state(live.id)).toMatchObject({ environment: 'live', generation: 0 });
  });
});
