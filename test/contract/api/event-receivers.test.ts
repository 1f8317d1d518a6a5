import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildAddition, committer } from '../../../functions/aws/transaction.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { organizationStore } from '../../../functions/tenancy/organizations.ts';
import { aKeyring, anEndpoint, anEvent } from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { type Api, aBusyOrganization, anApi } from '../store/api-handlers.ts';

const engine = dynamoDb();
let tables: TestTables;
let api: Api;

beforeAll(async () => {
  tables = await engine.createdTables();
  api = await anApi(engine, tables, aKeyring());
});
afterAll(() => api.close());

it('an event can be read while one of its endpoints is being deleted', async () => {
  const organization = aBusyOrganization();
  const now = new Date();
  const endpoint = anEndpoint({ orgId: organization.id });
  const event = anEvent({ tenant: { orgId: organization.id, generation: 0 }, now });
  const { service, outbox } = tables;
  const deletedAt = new Date(now.getTime() + 1).toISOString();
  await committer(service.client)([
    organizationStore(service).add(organization),
    outboxStore(outbox).append(event),
    ...endpointStore(service).add(endpoint),
    // As a request reads it whose two reads have the deletion between them.
    buildAddition(service, {
      ...keys.deletedEndpoint(organization.id, deletedAt, endpoint.id),
      ...endpoint,
      deletedAt,
    }),
  ]);
  const admin = api.caller(await api.session(organization.id));
  const { secretOnce } = await admin('createApiKey', { body: { name: 'Reader', scopes: ['read:webhooks'] } });

  const read = await api.caller(String(secretOnce))('readEvent', { params: { id: event.id } });

  expect(read).toMatchObject({ id: event.id, payload: event.body, deliveries: [] });
});
