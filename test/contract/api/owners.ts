import { PATIENCE } from 'aws-local/test/patience.ts';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Change, committer } from '../../../functions/aws/transaction.ts';
import { Scope } from '../../../functions/tenancy/api-keys.ts';
import { organizationStore } from '../../../functions/tenancy/organizations.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { aKeyring } from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { type Api, aBusyOrganization, anApi } from '../store/api-handlers.ts';
import { anEngine, type TestEngine } from '../store/delivery-engine.ts';

/** The API and the delivery engine over tables of their own, for the tests of a file once they begin. */
export function useApi() {
  const dynamo = dynamoDb();
  const keyring = aKeyring();
  const tables = {} as TestTables;
  const api = {} as Api;
  const engine = {} as TestEngine;
  beforeAll(async () => {
    Object.assign(tables, await dynamo.createdTables());
    Object.assign(api, await anApi(dynamo, tables, keyring));
    Object.assign(engine, anEngine(tables, keyring));
  }, 120_000 * PATIENCE);
  afterAll(() => api.close());

  const commit = async (...changes: Change[]): Promise<void> => {
    expect(await committer(tables.service.client)(changes)).toMatchObject({ kind: 'committed' });
  };
  return {
    tables,
    api,
    engine,
    keyring,
    commit,
    /** Adds an organization. @returns callers with an admin's session, and with a key of these scopes */
    async enrol(scopes: readonly Scope[] = Scope.options, organization = aBusyOrganization()) {
      await commit(organizationStore(tables.service).add(organization));
      const admin = api.caller(await api.session(organization.id));
      const key = await admin('createApiKey', { body: { name: 'All', scopes } });
      const secret = String(key.secretOnce);
      const tenant: Tenant = { orgId: organization.id, generation: 0 };
      return { orgId: organization.id, tenant, admin, key, secret, call: api.caller(secret) };
    },
  };
}
