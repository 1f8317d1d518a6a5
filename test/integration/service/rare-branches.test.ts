import type { FunctionFault, UsedPermission } from 'aws-local/functions/functions.ts';
import type { Fault, FaultPlan } from 'aws-local/functions/sandbox/faults.ts';
import { until } from 'aws-local/test/until.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EndpointId, newId, ReceiverId } from '../../../functions/domain/ids.ts';
import { keys } from '../../../functions/store/keys.ts';
import type { Table } from '../../../functions/store/table.ts';
import type { FunctionName } from '../../../lib/cloud/grants/grant.ts';
import { queueEvent, unreminded } from '../../bench/measure/reminders.ts';
import type { Report, Service } from '../../support/service.ts';
import { aSandbox, aTenant, type Tenant } from '../../support/tenant.ts';
import { failingWorker } from './background/failing-worker.ts';
import { type Page, pageOf, paragraph, startPage } from './background/page.ts';
import { recursion } from './background/recursion.ts';
import { aPlace, UNLIMITED } from './place.ts';
import { parity } from './sandbox/parity.ts';

/*
 * Branches that a request takes only after DynamoDB errors that the embedded engine never returns, or for a
 * slow endpoint: each runs here once under the role of its function. Then what needs the same short waits
 * between attempts: a sandbox beside its live organization, and workers that fail, whose messages become
 * visible again at once. Two functions that feed their own queues lack RecursiveLoop.
 */

/** Number of tries of a transaction (functions/store/transaction.ts). */
const CONTENDED: Fault[] = Array.from({ length: 6 }, () => 'conflict');
/** Number of tries of a request by the SDK (functions/platform/clients/clients.ts). */
const THROTTLED: Fault[] = ['throttled', 'throttled', 'throttled'];

const FAULTS: Partial<Record<FunctionName, FaultPlan>> = {
  dispatch: { BatchGetItem: ['missed', 'unprocessed'], TransactWriteItems: CONTENDED, UpdateItem: ['lost'] },
  redeliver: { BatchGetItem: ['unprocessed', 'none', 'unprocessed'], TransactWriteItems: ['conflict'] },
  'list-api-keys': { BatchGetItem: ['unprocessed'] },
  meter: { TransactWriteItems: CONTENDED, BatchGetItem: ['unprocessed'] },
  purge: { BatchWriteItem: ['unprocessed'] },
  'create-message': { TransactWriteItems: ['conflict', 'lost'] },
  'check-source': { TransactWriteItems: ['conflict'] },
  'fan-out': { Query: THROTTLED, PutItem: ['conflict'] },
  // No fault: the service only reports each request.
  'list-conversations': {},
};

interface Branch {
  branch: string;
  fn: FunctionName;
  /**
   * The branch starts after that many faults in a row; one when absent. Without a fault, `provoke` alone
   * takes the branch.
   */
  fault?: readonly [operation: string, fault: Fault, times?: number];
  /** What the function does next, as `action resource`, in any order. */
  actions: readonly string[];
  /** Makes the function take the branch, and resolves when its work is done. */
  provoke(): Promise<unknown>;
}

const place = aPlace({
  context: {
    ...UNLIMITED,
    retryBaseSeconds: 0.2,
    retryCapSeconds: 0.5,
    attemptTimeoutSeconds: 3,
    watchWindowSeconds: 1,
    lingerSeconds: 0,
  },
  queues: { BusMeterQueue: { visibilityTimeout: 1, maxReceiveCount: 3 } },
  stoppedInLoops: ['redeliver', 'dead-fan-outs'],
  faults: FAULTS,
});
const service = (): Service => place.service();
let tenant: Tenant;
let endpoint: string;
let page: Page;

beforeAll(async () => {
  tenant = place.keep(await aTenant(service()));
  page = await startPage(service().tls, pageOf(paragraph('first')));
  place.keep({ close: () => page.stop() });
  endpoint = (await tenant.api.register(tenant.receiver, ['conversation.created'])).id;
});

const findRows = async (table: string, text: string) =>
  (await service().rows([text])).filter((row) => row.table.includes(`Tables${table}`));

/** Changes the stored endpoint. */
async function mark(id: string, marks: object): Promise<void> {
  const [row = expect.fail('the endpoint is not stored')] = (await findRows('Service', id)).filter(
    ({ item }) => item.sk === id,
  );
  await service().rewrite({ ...row, item: { ...row.item, ...marks } });
}

/** Waits for so many succeeded deliveries of an endpoint. */
const waitUntilEnded = (id: string, count: number) =>
  until(`${count} deliveries of ${id} to succeed`, async () => {
    const all = await tenant.api.all(`/api/v1/webhooks/${id}/deliveries`);
    return all.length >= count && all.every(({ status }) => status === 'succeeded') && all;
  });

async function deliver(): Promise<void> {
  const before = await tenant.api.all(`/api/v1/webhooks/${endpoint}/deliveries`);
  await tenant.api.createConversation();
  const all = await waitUntilEnded(endpoint, before.length + 1);
  expect(all).toEqual(all.map((delivery) => ({ ...delivery, attempts: 1 })));
}

async function settleWithEndpoint(): Promise<void> {
  await mark(endpoint, { consecutiveFailures: 1 });
  await deliver();
}

async function answers(path: string, api = tenant.api): Promise<void> {
  expect([path, (await api.get(path)).status]).toEqual([path, 200]);
}

async function sendMessage(): Promise<void> {
  const conversation = `/api/v1/conversations/${await tenant.api.createConversation()}`;
  const { status } = await tenant.api.post(`${conversation}/messages`, { role: 'user', content: 'Hello' });
  expect(status).toBe(201);
  expect(await tenant.api.all(`${conversation}/messages`)).toHaveLength(1);
}

const meterIsIdle = () => until('the meter to be idle', () => service().queued('Bus/Meter/Queue') === 0);
async function countUsage(): Promise<void> {
  await deliver();
  await meterIsIdle();
}

async function checkSource(): Promise<void> {
  const { body } = await tenant.api.post('/api/v1/knowledge/sources', { kind: 'url', url: page.url });
  await until('the import', async () => {
    const source = await tenant.api.get(`/api/v1/knowledge/sources/${body.data?.id}`);
    return source.body.data?.version === 1;
  });
}

async function purge(): Promise<void> {
  const sandbox = place.keep(await aSandbox(service(), tenant));
  await sandbox.api.createConversation();
  expect((await tenant.admin.post('/api/settings/sandbox/reset')).status).toBe(200);
  await until('the purge', async () => {
    await service().invoke('purge');
    const { body } = await tenant.admin.get('/api/settings/sandbox');
    return Object(body.data).purge === null;
  });
}

/** A redelivery job resends an event whose redelivery has failed. */
async function redeliver(): Promise<void> {
  const { id } = await tenant.api.register(tenant.receiver, ['ticket.created']);
  await tenant.api.post(`/api/v1/webhooks/${id}/test`);
  const [first] = await waitUntilEnded(id, 1);
  const [stored = expect.fail('the delivery is not stored')] = await findRows('Deliveries', id);
  const failed = { ...stored.item, status: 'exhausted', terminalReason: 'max_attempts' };
  const again = newId('dlv', new Date());
  const key = keys.delivery(EndpointId.parse(id), 0, again);
  await service().rewrite({ ...stored, item: failed });
  await service().rewrite({ ...stored, item: { ...failed, ...key, id: again, redeliveryOf: first?.id } });
  const jobs = `/api/v1/webhooks/${id}/redeliveries`;
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const { body } = await tenant.api.post(jobs, { from });
  const job = await until('the job to end', async () => {
    const { data } = (await tenant.api.get(`${jobs}/${body.data?.id}`)).body;
    return data?.status !== 'running' && data;
  });
  expect(job).toMatchObject({ status: 'done', examined: 2, redelivered: 1 });
}

/** Gives the dispatcher a message of a queue although the endpoint belongs to another queue. */
async function move(from: 'Fresh' | 'Retry', marks: object): Promise<void> {
  const webhookId = ReceiverId.parse((await tenant.api.register(tenant.receiver, ['ticket.created'])).id);
  await mark(webhookId, marks);
  const all = await service().rows([tenant.orgId]);
  // Only the names of the tables are used: the rows are written by the service's own client.
  const named = (table: string) =>
    ({ name: all.find((row) => row.table.includes(`Tables${table}`))?.table }) as Table;
  const { rows, delivery } = unreminded(
    { orgId: tenant.orgId, endpoint: webhookId },
    { outbox: named('Outbox'), deliveries: named('Deliveries') },
  );
  for (const row of rows) await service().rewrite(row);
  const batch = queueEvent(service().queueArn(`Delivery/${from}`), [delivery]);
  expect(await service().invoke('dispatch', batch)).toEqual({ batchItemFailures: [] });
  await waitUntilEnded(webhookId, 1);
}
const IN_TEN_MINUTES = new Date(Date.now() + 600_000).toISOString();

/** A listing with a cursor that names a version after the newest one. */
async function listWithUnknownKey(): Promise<void> {
  await tenant.api.createConversation();
  const list = '/api/v1/conversations?limit=1';
  const bytes = Buffer.from(String((await tenant.api.get(list)).body.nextCursor), 'base64url');
  bytes[0] = 9;
  const { status } = await tenant.api.get(`${list}&cursor=${bytes.toString('base64url')}`);
  expect(status).toBe(400);
}

const BRANCHES: readonly Branch[] = [
  {
    branch: 'batch read misses new rows',
    fn: 'dispatch',
    fault: ['BatchGetItem', 'missed'],
    actions: ['GetItem Service', 'GetItem Outbox'],
    provoke: deliver,
  },
  {
    branch: 'batch read leaves keys unprocessed',
    fn: 'dispatch',
    fault: ['BatchGetItem', 'unprocessed'],
    actions: ['BatchGetItem Service', 'BatchGetItem Outbox'],
    provoke: deliver,
  },
  {
    branch: 'answer to a claim is lost',
    fn: 'dispatch',
    fault: ['UpdateItem', 'lost'],
    actions: ['UpdateItem Deliveries'],
    provoke: deliver,
  },
  {
    branch: 'settlement that changes the endpoint conflicts six times',
    fn: 'dispatch',
    fault: ['TransactWriteItems', 'conflict', CONTENDED.length],
    actions: ['GetItem Service', 'UpdateItem Deliveries', 'UpdateItem Service'],
    provoke: settleWithEndpoint,
  },
  {
    branch: 'fresh message moves to the slow queue',
    fn: 'dispatch',
    actions: ['SendMessage Slow'],
    provoke: () => move('Fresh', { slowUntil: IN_TEN_MINUTES }),
  },
  {
    branch: 'retry moves to the slow queue',
    fn: 'dispatch',
    actions: ['SendMessage Slow'],
    provoke: () => move('Retry', { slowUntil: IN_TEN_MINUTES }),
  },
  {
    branch: 'fresh message moves to the stalled queue, whose first answer ends the mark',
    fn: 'dispatch',
    actions: ['SendMessage Stalled', 'UpdateItem Service'],
    provoke: () => move('Fresh', { stalledUntil: IN_TEN_MINUTES }),
  },
  {
    branch: 'retry moves to the stalled queue',
    fn: 'dispatch',
    actions: ['SendMessage Stalled'],
    provoke: () => move('Retry', { stalledUntil: IN_TEN_MINUTES }),
  },
  {
    branch: 'query of endpoints is throttled three times',
    fn: 'fan-out',
    fault: ['Query', 'throttled', THROTTLED.length],
    actions: ['Query Service', 'PutItem Deliveries'],
    provoke: deliver,
  },
  {
    branch: 'write of a delivery conflicts',
    fn: 'fan-out',
    fault: ['PutItem', 'conflict'],
    actions: ['Query Service', 'PutItem Deliveries', 'SendMessage Fresh'],
    provoke: deliver,
  },
  {
    branch: 'read of statuses leaves keys unprocessed',
    fn: 'redeliver',
    fault: ['BatchGetItem', 'unprocessed'],
    actions: ['BatchGetItem Deliveries'],
    provoke: redeliver,
  },
  {
    branch: 'read of arrivals leaves keys unprocessed',
    fn: 'redeliver',
    fault: ['BatchGetItem', 'unprocessed'],
    actions: ['BatchGetItem Service', 'PutItem Deliveries', 'SendMessage Slow'],
    provoke: redeliver,
  },
  {
    branch: 'end of a job conflicts',
    fn: 'redeliver',
    fault: ['TransactWriteItems', 'conflict'],
    actions: ['UpdateItem Service', 'DeleteItem Service'],
    provoke: redeliver,
  },
  {
    branch: 'transaction conflicts six times',
    fn: 'meter',
    fault: ['TransactWriteItems', 'conflict', CONTENDED.length],
    actions: ['BatchGetItem Usage'],
    provoke: countUsage,
  },
  {
    branch: 'read of marks leaves keys unprocessed',
    fn: 'meter',
    fault: ['BatchGetItem', 'unprocessed'],
    actions: ['PutItem Usage', 'UpdateItem Usage'],
    provoke: countUsage,
  },
  {
    branch: 'read of last uses leaves keys unprocessed',
    fn: 'list-api-keys',
    fault: ['BatchGetItem', 'unprocessed'],
    actions: ['BatchGetItem Rates'],
    provoke: () => answers('/api/settings/api-keys', tenant.admin),
  },
  {
    branch: 'batch delete leaves rows unprocessed',
    fn: 'purge',
    fault: ['BatchWriteItem', 'unprocessed'],
    actions: ['BatchWriteItem Outbox'],
    provoke: purge,
  },
  {
    branch: 'transaction of a request conflicts',
    fn: 'create-message',
    fault: ['TransactWriteItems', 'conflict'],
    actions: ['PutItem Service', 'PutItem Outbox'],
    provoke: sendMessage,
  },
  {
    branch: 'answer to the transaction of a request is lost',
    fn: 'create-message',
    fault: ['TransactWriteItems', 'lost'],
    actions: ['PutItem Service', 'PutItem Outbox'],
    provoke: sendMessage,
  },
  {
    branch: 'settlement of a check conflicts',
    fn: 'check-source',
    fault: ['TransactWriteItems', 'conflict'],
    actions: ['UpdateItem Knowledge', 'PutItem Knowledge'],
    provoke: checkSource,
  },
  {
    branch: 'cursor of an unknown key version',
    fn: 'list-conversations',
    actions: ['GetSecretValue CursorKeys', 'GetSecretValue CursorKeys'],
    provoke: listWithUnknownKey,
  },
];

/** A row of the printed table. */
interface Ran extends Pick<Branch, 'branch' | 'fn' | 'actions'> {
  where: string;
}

/** Branches that other tests take under the same roles. */
const ELSEWHERE: readonly Ran[] = [
  {
    branch: 'signature with a key version that is not cached',
    fn: 'dispatch',
    actions: ['GetSecretValue SigningKeys'],
    where: 'local-run.test.ts, keys that are rotated',
  },
  {
    branch: 'delivery message gives up',
    fn: 'dead-delivery-messages',
    actions: ['UpdateItem Deliveries'],
    where: 'sandbox/network/invocations.ts',
  },
  {
    branch: 'stream record gives up; the event fails again and is postponed',
    fn: 'dead-fan-outs',
    actions: ['GetShardIterator', 'GetRecords', 'GetItem Outbox', 'SendMessage DeadFanOuts'],
    where: 'background/dead-letters.ts',
  },
  {
    branch: 'first attempt goes to the slow or stalled queue',
    fn: 'dead-fan-outs',
    actions: ['SendMessage Slow', 'SendMessage Stalled'],
    where: 'background/dead-letters.ts',
  },
  {
    branch: 'stream record gives up; the event fails again and is postponed',
    fn: 'dead-publications',
    actions: ['GetShardIterator', 'GetRecords', 'GetItem Outbox', 'SendMessage DeadPublications'],
    where: 'background/dead-letters.ts',
  },
  {
    branch: 'first attempt goes to the slow or stalled queue',
    fn: 'redeliver',
    actions: ['SendMessage Slow', 'SendMessage Stalled'],
    where: 'background/redeliveries.ts',
  },
  {
    branch: 'events were counted before',
    fn: 'meter',
    actions: ['BatchGetItem Usage'],
    where: 'background/usage.ts',
  },
];

/** Shortens `dynamodb:GetItem` on a table's ARN to `GetItem Service`. */
function formatPermission({ action, resource }: UsedPermission): string {
  const [, queueOrTable, secret] =
    /(?:Tables|Delivery|Bus)([A-Z][a-z]+)|((?:Cursor|Signing)Keys)/.exec(resource) ?? [];
  return `${action.split(':')[1]} ${queueOrTable ?? secret ?? resource}`;
}

const isFault = (report: Report): report is FunctionFault => 'fault' in report;

/** Maximum of other requests of the function in between. */
const OTHERS = 3;

/**
 * The permissions that the function used after each start of the branch: after its faults, or from the given
 * report on when it has none.
 */
function usedIn({ fn, fault, actions }: Branch, since: number): UsedPermission[][] {
  const reports = service().reports(fn);
  const usedFrom = (start: number) =>
    reports
      .slice(start)
      .filter((report) => 'action' in report)
      // A transaction uses one permission for each of its writes.
      .filter(
        (report, index, all) =>
          formatPermission(report) !== (index > 0 && formatPermission(all[index - 1] ?? report)),
      );
  if (fault === undefined) return [usedFrom(since)];
  const [operation, kind, times = 1] = fault;
  let inRow = 0;
  return reports.flatMap((report, index) => {
    if (!isFault(report)) return [];
    inRow = report.operation === operation && report.fault === kind ? inRow + 1 : 0;
    return inRow >= times ? [usedFrom(index + 1).slice(0, actions.length + OTHERS)] : [];
  });
}

/** Whether all actions are used, repeated ones as often as named. */
function includesAll(used: readonly UsedPermission[], actions: readonly string[]): boolean {
  const names = used.map(formatPermission);
  const countOf = (all: readonly string[], name: string) => all.filter((one) => one === name).length;
  return actions.every((action) => countOf(names, action) >= countOf(actions, action));
}

describe('rare branches', { timeout: 120_000 }, () => {
  const ran: Ran[] = ELSEWHERE.slice();

  it.each(BRANCHES.map((branch) => [branch.fn, branch.branch, branch] as const))(
    '%s has the permissions for: %s',
    async (fn, _, branch) => {
      const since = service().reports(fn).length;
      const find = () => usedIn(branch, since).find((used) => includesAll(used, branch.actions));
      // An earlier branch may have used up the fault; then this branch has run already.
      if (branch.fault === undefined || find() === undefined) await branch.provoke();
      // A report may arrive after the answer.
      const used = await until(`requests with ${branch.actions.join(', ')}`, find);
      expect(used.filter(({ isAllowed }) => !isAllowed)).toEqual([]);
      ran.push({ ...branch, where: 'here' });
    },
  );

  afterAll(() => {
    const rows = ran
      .toSorted((a, b) => a.fn.localeCompare(b.fn))
      .map(({ branch, fn, actions, where }) => `${fn} | ${branch} | ${actions.join(', ')} | ${where}`);
    process.stdout.write(`function | branch | actions after it | where it ran\n${rows.join('\n')}\n`);
  });
});

describe('a sandbox', () => parity(place));
describe('a function that feeds its own queue', () => recursion(place));
// Last, because no event is counted afterwards.
describe('a worker that fails on everything', () => failingWorker(place));
