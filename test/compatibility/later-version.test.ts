import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { EndpointId } from '../../functions/aws/ids.ts';
import { committer } from '../../functions/aws/transaction.ts';
import { endpointStore } from '../../functions/receivers/endpoints.ts';
import { organizationStore } from '../../functions/tenancy/organizations.ts';
import { aTenant, later, NOW, seconds } from '../builders.ts';
import { changingEndpoints } from '../contract/store/endpoint-changes.ts';
import { rowsIn } from '../contract/store/rows.ts';
import { memoryTables } from '../doubles/tables/stack-tables.ts';
import { KINDS, type Kind } from './kinds.ts';

/** What a later version may have added, which runs beside the present one during a deployment. */
const LATER = { ofALaterVersion: { kept: true } };

/** The service table with a row of the present kind that a later version has written. */
async function aLaterRow(name: 'endpoint' | 'organization') {
  const { service } = memoryTables();
  const tenant = aTenant();
  const row = { ...KINDS[name].make(tenant), ...LATER };
  await service.client.send(new PutCommand({ TableName: service.name, Item: row }));
  const read = async () => (await rowsIn(service)).find(({ pk, sk }) => pk === row.pk && sk === row.sk);
  return { service, row, read, ...tenant };
}

describe('a row of a later version', () => {
  it.each(Object.entries<Kind>(KINDS))('is read without what is not known: %s', (_, { make, keyOf }) => {
    const tenant = aTenant();
    const { pk, sk, ...attributes } = make(tenant);
    expect(keyOf({ pk, sk, ...attributes, ...LATER }, tenant)).toEqual(
      sk === undefined ? { pk } : { pk, sk },
    );
  });

  it('keeps attributes that a change of an endpoint does not name', async () => {
    const { service, row, read, orgId } = await aLaterRow('endpoint');
    const id = row.sk as EndpointId;
    await changingEndpoints(service).update(orgId, id, { events: ['ticket.created'] });
    const pace = { is: 'slow', until: later(NOW, seconds(60)).toISOString() } as const;
    await endpointStore(service).setPace(orgId, id, undefined, pace);

    expect(await read()).toEqual({ ...row, events: ['ticket.created'], pace });
  });

  it('keeps attributes that a change of an organization does not name', async () => {
    const { service, row, read, orgId } = await aLaterRow('organization');
    const { find, buildUpdate } = organizationStore(service);
    const organization = await find(orgId);
    if (organization === undefined) throw new Error('the organization was just stored');
    await committer(service.client)([buildUpdate(organization, { contentChangeThreshold: 33 })]);

    expect(await read()).toEqual({ ...row, contentChangeThreshold: 33 });
  });
});
