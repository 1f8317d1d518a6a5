import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { type Change, committer } from '../../../functions/aws/transaction.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { organizationStore } from '../../../functions/tenancy/organizations.ts';
import { aDelivery, aKeyring, anEndpoint } from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { type Api, aBusyOrganization, anApi } from '../store/api-handlers.ts';

const dynamo = dynamoDb();
let tables: TestTables;
let api: Api;
beforeAll(async () => {
  tables = await dynamo.createdTables();
  api = await anApi(dynamo, tables, aKeyring());
});
afterAll(() => api.close());

it.each([
  ['in a moment', {}],
  ['at its turn under the limit of the endpoint', { maxPerSecond: 1 }],
])('a second request for an attempt says that it starts %s', async (when, limit) => {
  const organization = aBusyOrganization();
  const orgId = organization.id;
  const commit = async (...changes: Change[]) => {
    expect(await committer(tables.service.client)(changes)).toMatchObject({ kind: 'committed' });
  };
  await commit(organizationStore(tables.service).add(organization));
  const admin = api.caller(await api.session(orgId));
  const key = await admin('createApiKey', { body: { name: 'All', scopes: ['write:webhooks'] } });
  const id = newId('whk', new Date());
  await commit(...endpointStore(tables.service).add(anEndpoint({ id, orgId, ...limit })));
  const delivery = aDelivery({ orgId, webhookId: id, status: 'retrying', attempts: 1 });
  await deliveryStore(tables.deliveries).add(delivery);
  const retry = () =>
    api.caller(String(key.secretOnce))('retryDelivery', { params: { id, deliveryId: delivery.id } });

  expect(await retry()).toMatchObject({ status: 'retrying' });
  await expect(retry()).rejects.toThrow(`The next attempt was already requested and starts ${when}.`);
});
