import { PATIENCE } from 'aws-local/test/patience.ts';
import { until } from 'aws-local/test/until.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { getLatestMonths } from '../../../../functions/events/usage.ts';
import type { ApiClient } from '../../../support/api.ts';
import { aSandbox, aTenant, type Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { untilDrained } from './until-drained.ts';

const message = { role: 'user', content: 'Hello' };
async function create(api: ApiClient, path: string, body: unknown): Promise<string> {
  const answer = await api.post(path, body);
  expect(answer.status).toBe(201);
  return String(answer.body.data?.id);
}
const aConversation = (api: ApiClient) =>
  create(api, '/api/v1/conversations', { channelId: 'web', externalUserId: 'ada' });

/** The sum of the latest two months: a test may run over the end of one. */
async function readUsage({ admin }: Tenant): Promise<{ conversations: number; messages: number }> {
  const { status, body } = await admin.get('/api/settings/usage?months=2');
  expect(status).toBe(200);
  const months: { conversations: number; messages: number }[] = Object(body.data).months;
  return months.reduce((sum, month) => ({
    conversations: sum.conversations + month.conversations,
    messages: sum.messages + month.messages,
  }));
}
const waitUntilCounted = (tenant: Tenant, expected: object) =>
  until(
    'the usage to be counted',
    async () => JSON.stringify(await readUsage(tenant)) === JSON.stringify(expected),
  );

/* The usage that an organization is shown, and that nothing else counts. */
const { service, keep } = aPlace();
/** Tenants that no test has taken. */
const fresh: Tenant[] = [];
let live: Tenant;
let sandbox: Tenant;

beforeAll(async () => {
  for (let tenant = 0; tenant < 5; tenant += 1) fresh.push(keep(await aTenant(service())));
  live = aNewTenant();
  sandbox = keep(await aSandbox(service(), live));
});

/** A tenant without usage. */
function aNewTenant(): Tenant {
  const tenant = fresh.pop();
  if (tenant === undefined) throw new Error('tests need more tenants than were made');
  return tenant;
}

describe.concurrent('usage', { timeout: 120_000 * PATIENCE }, () => {
  it('counts conversations and messages of live organizations, each for itself', async () => {
    const [first, second] = [aNewTenant(), aNewTenant()];
    expect(await readUsage(first)).toEqual({ conversations: 0, messages: 0 });
    const conversation = await aConversation(first.api);
    await aConversation(first.api);
    for (let index = 0; index < 12; index += 1)
      await create(first.api, `/api/v1/conversations/${conversation}/messages`, message);
    await aConversation(second.api);

    await waitUntilCounted(first, { conversations: 2, messages: 12 });
    await waitUntilCounted(second, { conversations: 1, messages: 0 });

    const { body } = await first.admin.get('/api/settings/usage?months=3');
    const { organizationId, months } = Object(body.data);
    expect(organizationId).toBe(first.orgId);
    expect(months.map(({ month }: { month: string }) => month)).toEqual(getLatestMonths(new Date(), 3));
  });

  it('counts nothing of a sandbox, neither for it nor for its live organization', async () => {
    const conversation = await aConversation(sandbox.api);
    await create(sandbox.api, `/api/v1/conversations/${conversation}/messages`, message);
    // Published after the sandbox's events: once it is counted, those have been processed or will be within
    // this second.
    await aConversation(live.api);

    await waitUntilCounted(live, { conversations: 1, messages: 0 });
    for (const { orgId } of [live, sandbox]) await untilDrained(service(), 'Bus/Meter/Queue', orgId);

    expect(await readUsage(live)).toEqual({ conversations: 1, messages: 0 });
    const usage = (await service().rows()).filter(({ table }) => table.includes('Usage'));
    const of = ({ orgId }: Tenant) => usage.filter(({ item }) => JSON.stringify(item).includes(orgId));
    expect(of(sandbox)).toEqual([]);
    expect(of(live)).toHaveLength(2);
  });
});
