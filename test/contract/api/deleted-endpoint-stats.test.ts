import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { buildAddition, type Change, committer } from '../../../functions/aws/transaction.ts';
import { ledgerStore } from '../../../functions/delivery/ledger.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { organizationStore } from '../../../functions/tenancy/organizations.ts';
import { LIVE_GENERATION } from '../../../functions/tenancy/tenant.ts';
import { aKeyring, aLedgerEntry, anEndpoint } from '../../builders.ts';
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

it('an outage stays in the totals of the deliveries when its endpoint is deleted', async () => {
  const organization = aBusyOrganization();
  const commit = async (...changes: Change[]) => {
    expect(await committer(tables.service.client)(changes)).toMatchObject({ kind: 'committed' });
  };
  const now = new Date();
  const anOwn = () => anEndpoint({ id: newId('whk', now), orgId: organization.id });
  const [current, deleted] = [anOwn(), anOwn()];
  const deletedAt = now.toISOString();
  await commit(organizationStore(tables.service).add(organization));
  await commit(...endpointStore(tables.service).add(current));
  await commit(
    buildAddition(tables.service, {
      ...keys.deletedEndpoint(organization.id, deletedAt, deleted.id),
      ...deleted,
      deletedAt,
    }),
  );
  const part = { shardId: 'shardId-0', first: '1'.repeat(24), last: '2'.repeat(24) };
  const hour = `${now.toISOString().slice(0, 13)}:00:00.000Z`;
  for (const { id: webhookId } of [current, deleted])
    await ledgerStore(tables.ledger).add(
      { ...part, shardId: `shardId-${webhookId}` },
      aLedgerEntry({ webhookId, hour, generation: LIVE_GENERATION, owed: 3, exhausted: 3 }),
    );

  const admin = api.caller(await api.session(organization.id));
  const { secretOnce } = await admin('createApiKey', { body: { name: 'x', scopes: ['read:webhooks'] } });
  const reader = api.caller(String(secretOnce));
  const { totals, endpoints } = await reader('readDeliveryStats', { query: { hours: '2' } });

  expect(totals).toMatchObject({ owed: 6, exhausted: 6 });
  expect(endpoints).toEqual([
    expect.objectContaining({ webhookId: current.id, totals: expect.objectContaining({ exhausted: 3 }) }),
  ]);
});
