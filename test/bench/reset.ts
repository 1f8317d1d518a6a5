import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { until } from 'aws-local/test/until.ts';
import { commandLine, wholeNumber } from 'terminal/command-line.ts';
import { OrgId, ReceiverId } from '../../functions/aws/ids.ts';
import type { Delivery } from '../../functions/delivery/delivery.ts';
import { ledgerStore } from '../../functions/delivery/ledger.ts';
import { buildTenantKey } from '../../functions/tenancy/keys.ts';
import { readOrganizationState } from '../../functions/tenancy/organizations.ts';
import type { Tenant } from '../../functions/tenancy/tenant.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { type LocalRun, startLocalRun, temporaryDirectory } from '../support/local-run.ts';
import { type RunEngines, startRunEngines } from './run-engines.ts';
import { type NewRow, type Records, recordsOf } from './sandbox-records.ts';

/*
 * The cost of resetting a full sandbox, and what remains: the local run as a user has it, with records
 * written directly to its tables.
 */
const options = commandLine(
  'npm run bench -- reset',
  'Fills a sandbox with so many records: conversations, messages, tickets, escalations, events, idempotency records, the ledger, and deliveries in all states, some of endpoints that are gone, three hundredths due with a message in a queue and two parked and due. Resets it through the API and prints the time of the answer; then of some further resets. Looks whether anything old can be seen, waits until all that was due would have been attempted, follows the purge until it is done, and reads every table. Takes several minutes, two of them the linger time. Exits with 1 when anything of the old data was shown, attempted or left.',
)
  .option('--records <n>', 'records of the sandbox', wholeNumber(1, 100_000_000), 100_000)
  .option('--resets <n>', 'further resets', wholeNumber(0, 1000), 9)
  .parse()
  .opts();

const RECORDS = options.records;
/** The target for the answer of a reset. */
const AIM_MS = 300;
/**
 * From the last preparations to when deliveries are due: the reset has to be in between. The purge begins
 * later, after the linger time.
 */
const DUE_AFTER_MS = 30_000;
const BATCH = 25;
const AT_ONCE = 8;
const PATIENCE_MS = 1_800_000;

const say = (text: string) => process.stdout.write(`${text}\n`);
const faults: string[] = [];
/** Prints a result, and records a failure. */
function report(name: string, value: string, isRight = true): void {
  say(`${styleText('dim', name.padEnd(52))} ${isRight ? value : styleText('red', value)}`);
  if (!isRight) faults.push(`${name}: ${value}`);
}
const ms = (value: number) => `${value.toFixed(0)} ms`;

async function timed<T>(act: () => Promise<T>): Promise<[T, number]> {
  const began = performance.now();
  const result = await act();
  return [result, performance.now() - began];
}

async function write({ client }: RunEngines, rows: Iterator<NewRow>): Promise<number> {
  let written = 0;
  const lane = async () => {
    for (;;) {
      const batch: NewRow[] = [];
      for (let next = rows.next(); !next.done; next = rows.next()) {
        batch.push(next.value);
        if (batch.length === BATCH) break;
      }
      if (batch.length === 0) return;
      const byTable = Map.groupBy(batch, ({ table }) => table);
      await client.send(
        new BatchWriteCommand({
          RequestItems: Object.fromEntries(
            [...byTable].map(([table, its]) => [
              table,
              its.map(({ item: Item }) => ({ PutRequest: { Item } })),
            ]),
          ),
        }),
      );
      written += batch.length;
      if (Math.floor(written / 20_000) > Math.floor((written - batch.length) / 20_000))
        say(styleText('dim', `  ${written} written`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return written;
}

async function reset(admin: ApiClient): Promise<number> {
  const [{ status, body }, took] = await timed(() => admin.post('/api/settings/sandbox/reset'));
  if (status !== 200) throw new Error(`the reset answered ${status}: ${JSON.stringify(body)}`);
  return took;
}

/**
 * Starts a conversation, and waits until its event has been delivered: then all earlier commits have been
 * fanned out.
 */
async function deliverOne(api: ApiClient, endpoint: ReceiverId): Promise<void> {
  const begunAt = new Date().toISOString();
  await api.createConversation();
  await until(
    'a delivery that succeeded',
    async () => {
      const { body } = await api.get(`/api/v1/webhooks/${endpoint}/deliveries?limit=10`);
      const isIts = ({ eventType, createdAt }: Record<string, unknown>) =>
        eventType === 'conversation.created' && String(createdAt) >= begunAt;
      return [...(body.data ?? [])].some((delivery) => isIts(delivery) && delivery.status === 'succeeded');
    },
    PATIENCE_MS,
  );
}

const LISTS = (endpoint: ReceiverId) => [
  '/api/v1/conversations',
  '/api/v1/tickets',
  `/api/v1/webhooks/${endpoint}/deliveries`,
];

/** Second pages of all lists. */
const cursorsOf = (api: ApiClient, endpoint: ReceiverId): Promise<string[]> =>
  Promise.all(
    LISTS(endpoint).map(async (path) => {
      const { body } = await api.get(`${path}?limit=2`);
      if (!body.nextCursor) throw new Error(`${path} has no second page`);
      return `${path}?cursor=${encodeURIComponent(body.nextCursor)}`;
    }),
  );

/** The old data in the API, as soon as the reset was answered. */
async function look(api: ApiClient, endpoint: ReceiverId, old: Records, cursors: readonly string[]) {
  for (const list of LISTS(endpoint)) {
    const items = [...((await api.get(list)).body.data ?? [])].length;
    report(`items in ${list.replace(/whk_\w+/, '{id}')}`, String(items), items === 0);
  }
  const conversation = `/api/v1/conversations/${old.conversationId}`;
  const [delivery] = old.held;
  const gone = [
    conversation,
    `${conversation}/messages`,
    `${conversation}/escalations`,
    `/api/v1/tickets/${old.ticketId}`,
    `/api/v1/webhooks/${delivery?.webhookId}/deliveries/${delivery?.id}`,
  ];
  const statuses = await Promise.all(gone.map(async (path) => (await api.get(path)).status));
  report(
    `${gone.length} old identifiers`,
    statuses.join(' '),
    statuses.every((status) => status === 404),
  );
  const answers = await Promise.all(cursors.map(async (path) => (await api.get(path)).status));
  report(
    `${cursors.length} old cursors`,
    answers.join(' '),
    answers.every((status) => status === 400),
  );
}

/**
 * The number of these deliveries with more attempts than they were written with, according to the table's
 * stream; and the number of others, to detect a stream that reports nothing.
 */
async function attempted(engines: RunEngines, deliveries: readonly Delivery[]) {
  const written = new Map(deliveries.map(({ id, attempts }) => [id, attempts]));
  const [old, others] = [new Set<string>(), new Set<string>()];
  for await (const { id, attempts, lease } of engines.states()) {
    const before = written.get(id);
    if (before !== undefined && attempts > before) old.add(id);
    if (before === undefined && lease !== undefined) others.add(id);
  }
  return { old: old.size, others: others.size };
}

say(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}\n`);
const directory = await temporaryDirectory();
const engines = await startRunEngines(join(directory.path, 'engines'));
let run: LocalRun | undefined;
try {
  run = await startLocalRun(join(directory.path, 'run'), {
    ...engines.settings,
    SANDBOX_RATE_LIMIT_PER_MINUTE: '1000000',
  });
  const { BASE_URL, ADMIN_TOKEN, SANDBOX_API_KEY, SANDBOX_ORG_ID } = run.environment;
  const admin = apiClient({ BASE_URL, API_KEY: ADMIN_TOKEN });
  const api = apiClient({ BASE_URL, API_KEY: SANDBOX_API_KEY });
  const tables = await engines.tables();
  const orgId = OrgId.parse(SANDBOX_ORG_ID);
  const generation = async () =>
    (await readOrganizationState(tables.service)(orgId))?.generation ?? Number.NaN;

  const register = async (program: string, event = 'conversation.created') =>
    ReceiverId.parse((await api.register(`https://example.com/hooks?simulate=${program}`, [event])).id);
  const endpoints = [
    await register('200'),
    await register('200'),
    await register('200'),
    // No later conversation there, because its retries would stay in the queues for an hour.
    await register('503', 'ticket.created'),
  ];
  const gone = [await register('200'), await register('200')];
  const [taking] = endpoints;
  if (taking === undefined) throw new Error('there is no endpoint');
  // The first calls start the functions' processes.
  await deliverOne(api, taking);
  for (const id of gone) await api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
  report('reset of an almost empty sandbox, first call', ms(await reset(admin)));

  const tenant: Tenant = { orgId, generation: await generation() };
  const old = recordsOf(tables, tenant, RECORDS, { endpoints, gone });
  say(`\nWriting ${RECORDS} records of ${buildTenantKey(tenant)}`);
  const [written, took] = await timed(async () => {
    const ledger = ledgerStore(tables.ledger);
    const part = { shardId: 'written', first: '1', last: '1' };
    await Promise.all(old.ledger.map((entry) => ledger.add(part, entry)));
    return write(engines, old.rows);
  });
  await deliverOne(api, taking);
  const cursors = await cursorsOf(api, taking);
  await write(engines, old.rowsOf(old.held));
  const dueAt = new Date(Date.now() + DUE_AFTER_MS);
  const parked = old.parked(dueAt);
  await write(engines, old.rowsOf(parked));
  await engines.remindOf(old.held, dueAt);
  const waiting = [...old.held, ...parked];
  report(
    'records written',
    `${written + old.ledger.length + waiting.length}, the most in ${(took / 1000).toFixed(0)} s`,
  );
  report('  due, with a message in a queue', String(old.held.length));
  report('  parked, and due', String(parked.length));
  report('messages in the queues at the reset', String(await engines.messages()));

  say('');
  const resetAt = performance.now();
  const first = await reset(admin);
  if (Date.now() >= dueAt.getTime())
    throw new Error('writing took so long that the deliveries were due before the reset');
  report(`reset of ${RECORDS} records (aim: ${AIM_MS} ms)`, ms(first));
  await look(api, taking, old, cursors);
  const times: number[] = [];
  for (let count = 0; count < options.resets; count += 1) times.push(await reset(admin));
  times.sort((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)] ?? 0;
  report(`${times.length} further resets, median, longest`, `${ms(median)}, ${ms(times.at(-1) ?? 0)}`);
  await deliverOne(api, taking);
  report('what was created since then', 'delivered');

  say('');
  await until('the time of what was due', () => Date.now() > dueAt.getTime(), PATIENCE_MS);
  const stored = await engines.countOf(waiting);
  report('still stored when they were due', `${stored} of ${waiting.length}`, stored === waiting.length);
  let reported = 0;
  const present = await generation();
  await until(
    'the purge',
    async () => {
      const { body } = await admin.get('/api/settings/sandbox');
      const purge = Object(body.data).purge;
      if (purge !== null && purge.deleted >= reported) {
        say(styleText('dim', `  ${purge.deleted} deleted`));
        reported = purge.deleted + RECORDS / 10;
      }
      if (purge !== null) await sleep(1000);
      return purge === null;
    },
    PATIENCE_MS,
  );
  report('the purge is done after', `${((performance.now() - resetAt) / 1000).toFixed(0)} s`);
  await until('empty queues', async () => (await engines.messages()) === 0, PATIENCE_MS);

  let [rows, left, marked] = [0, 0, 0];
  for await (const row of engines.rows()) {
    rows += 1;
    const text = JSON.stringify(row);
    const isOld = Array.from({ length: present - 1 }, (_, index) => `${orgId}#${index + 1}`).some((name) =>
      new RegExp(`${name}(?!\\d)`).test(text),
    );
    const endpoint = [...endpoints, ...gone].some((id) => id === row.webhookId) || row.orgId === orgId;
    if (isOld || (endpoint && typeof row.generation === 'number' && row.generation < present)) left += 1;
    if (row.ofSandbox === buildTenantKey({ orgId, generation: present })) marked += 1;
  }
  report('rows in all tables, of the present generation', `${rows}, ${marked}`, marked > 0);
  report('rows of deleted generations', String(left), left === 0);
  const attempts = await attempted(engines, waiting);
  report('attempted of deleted generations', String(attempts.old), attempts.old === 0);
  report('attempted of the present generation', String(attempts.others), attempts.others > 0);

  api.close();
  admin.close();
  await run.interrupt();
  for (const fault of faults) say(styleText('red', `not as it has to be: ${fault}`));
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  await run?.kill();
  await engines.stop();
  await directory.remove();
}
