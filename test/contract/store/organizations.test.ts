import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/domain/ids.ts';
import { keys } from '../../../functions/store/keys.ts';
import { organizationStore } from '../../../functions/store/organizations.ts';
import { committer } from '../../../functions/store/transaction.ts';
import { anOrganization, NOW } from '../../builders.ts';
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
    addAgain: (organization = anOrganization()) => commit([store.add(organization)]),
  };
}

describe('an organization', () => {
  it('is found once it was added, and there is none before', async () => {
    const { find, enrol } = await organizations();
    const organization = await enrol();

    expect(await find(organization.id)).toEqual(organization);
    expect(await find(newId('org', NOW))).toBeUndefined();
  });

  it('is not added twice', async () => {
    const { find, enrol, addAgain } = await organizations();
    const organization = await enrol();

    expect(await addAgain({ ...organization, name: 'Another' })).toEqual({
      kind: 'refused',
      refusal: 'exists',
    });

    expect(await find(organization.id)).toEqual(organization);
  });

  it('that was stored before there were settings has the default ones', async () => {
    const { find, service } = await organizations();
    const { contentChangeThreshold, contentChangeNotifications, ...early } = anOrganization();
    const Item = { ...keys.organization(early.id), ...early };
    await service.client.send(new PutCommand({ TableName: service.name, Item }));

    expect(await find(early.id)).toEqual({
      ...early,
      contentChangeThreshold: 20,
      contentChangeNotifications: true,
    });
  });
});

describe('changing the settings', () => {
  it.each([
    { contentChangeThreshold: 0 },
    { contentChangeThreshold: 33.33 },
    { contentChangeThreshold: 100 },
    { contentChangeNotifications: false },
    { contentChangeThreshold: 7, contentChangeNotifications: false },
  ])('sets what is given and leaves the rest: %j', async (change) => {
    const { find, enrol, change: set } = await organizations();
    const organization = await enrol();

    expect(await set(organization.id, change)).toEqual({ ...organization, ...change });

    expect(await find(organization.id)).toEqual({ ...organization, ...change });
  });

  it.each([[{}], [{ contentChangeThreshold: undefined, contentChangeNotifications: undefined }]])(
    'changes nothing when nothing is given: %j',
    async (change) => {
      const { enrol, change: set } = await organizations();
      const organization = await enrol();
      expect(await set(organization.id, change)).toEqual(organization);
    },
  );

  it('from two sides at once loses neither', async () => {
    const { find, enrol, change } = await organizations();
    const organization = await enrol();
    const changes = { contentChangeThreshold: 55.5, contentChangeNotifications: false };

    await Promise.all(
      Object.entries(changes).map(([name, value]) => change(organization.id, { [name]: value })),
    );

    expect(await find(organization.id)).toEqual({ ...organization, ...changes });
  });

  it('makes no organization of what is none', async () => {
    const { find, change } = await organizations();
    const id = newId('org', NOW);

    expect(await change(id, { contentChangeThreshold: 5 })).toBeUndefined();
    expect(await change(id, {})).toBeUndefined();

    expect(await find(id)).toBeUndefined();
  });

  it('touches no other organization', async () => {
    const { find, enrol, change } = await organizations();
    const [one, other] = [await enrol(), await enrol()];

    await change(one.id, { contentChangeThreshold: 5 });

    expect(await find(other.id)).toEqual(other);
  });
});
