import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { OrgId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { organizationStore } from '../../../functions/tenancy/organizations.ts';
import type { OrganizationSettings } from '../../../functions/tenancy/tenant.ts';
import { anOrganization } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';

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
    addAgain: (organization = anOrganization()) => commit([store.add(organization)]),
  };
}

describe('an organization', () => {
  it('is not added twice', async () => {
    const { find, enrol, addAgain } = await organizations();
    const organization = await enrol();

    expect(await addAgain({ ...organization, name: 'Another' })).toEqual({
      kind: 'refused',
      refusal: 'exists',
    });

    expect(await find(organization.id)).toEqual(organization);
  });
});

describe('a change of the settings', () => {
  it('is possible from the defaults of an organization without settings', async () => {
    const { find, change, service } = await organizations();
    const { contentChangeThreshold, contentChangeNotifications, ...early } = anOrganization();
    const Item = { ...keys.organization(early.id), ...early };
    await service.client.send(new PutCommand({ TableName: service.name, Item }));

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
