import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Option } from '@commander-js/extra-typings';
import { startDynamoDb } from 'aws-local/engines/dynamodb.ts';
import { commandLine, repeatable, text, wholeNumber } from 'terminal/command-line.ts';
import { mapConcurrently } from '../../functions/aws/concurrency.ts';
import { newId } from '../../functions/aws/ids.ts';
import { committer } from '../../functions/aws/transaction.ts';
import type { WorkerQueue } from '../../functions/delivery/queues.ts';
import { CHECK_LEASE_SECONDS } from '../../functions/delivery/timing.ts';
import type { BusEvent } from '../../functions/events/bus.ts';
import { checkSource, ShareInUse } from '../../functions/knowledge/check-source.ts';
import { scheduleSourceChecks } from '../../functions/knowledge/schedule-source-checks.ts';
import { checkSlots, sourceChecks } from '../../functions/knowledge/source-checks.ts';
import type { CheckFinding } from '../../functions/knowledge/source-content.ts';
import { createSource, dueSources, type Source } from '../../functions/knowledge/sources.ts';
import { keys } from '../../functions/tenancy/keys.ts';
import {
  organizationStates,
  organizationStore,
  readOrganizationState,
} from '../../functions/tenancy/organizations.ts';
import { recordedLog } from '../doubles/recorded-log.ts';
import type { TableName } from '../table-definitions.ts';
import { metered } from './consumed.ts';
import { createTable } from './create-table.ts';

/*
 * The cost of scheduling and checking sources: the real code over the real stores and the embedded DynamoDB,
 * on a clock that stands still in each phase, with a queue that only records and a simulated web. One run of
 * the schedule is killed half-way. Consumed capacity is as the engine reports.
 */
const options = commandLine(
  'npm run bench -- sweep',
  'Makes so many sources of so many organizations, of which some are due, and prints what each of these consumed and took: a run of the sweep with nothing due, one that is killed when it has sent half, the one that goes on, the checks of what was sent, and one and two hours later a run with checks that find nothing new, and with checks that find all of the text changed. Fails unless every source that is due was sent and fetched once, and no other.',
)
  .option('--sources <n>', 'sources', wholeNumber(1, 10_000_000), 10_000)
  .option('--tenants <n>', 'organizations', wholeNumber(1, 1_000_000), 50)
  .option('--due <n>', 'sources that are due', wholeNumber(1, 10_000_000), 1000)
  .addOption(
    // The arguments of the killed process: the engine's URL, the time, and the file that replaces the queue.
    new Option('--killed <value>').argParser(repeatable(text)).hideHelp(),
  )
  .parse()
  .opts();

const { sources: SOURCES, tenants: TENANTS, due: DUE } = options;
const EVERY_SECONDS = 3600;
const TABLES = ['knowledge', 'service', 'outbox'] as const satisfies readonly TableName[];
/** DynamoDB's limit of items in one request, concurrent requests, and concurrent checks. */
const BATCH = 25;
const AT_ONCE = 8;
const CHECKS_AT_ONCE = 50;
const HEADS = ['sources', 'read units', 'write units', 'writes each', 'requests', 's'];
const say = (text: string) => process.stdout.write(`${text}\n`);

const clientAt = (endpoint: string) => {
  const plain = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  return {
    plain,
    client: DynamoDBDocumentClient.from(plain, { marshallOptions: { removeUndefinedValues: true } }),
  };
};
const tableOf = (client: DynamoDBDocumentClient, name: (typeof TABLES)[number]) => ({ client, name });

const sweepOf = (client: DynamoDBDocumentClient, now: () => Date, send: WorkerQueue['send']) =>
  scheduleSourceChecks({
    due: dueSources(tableOf(client, 'knowledge')),
    checks: { send },
    log: recordedLog(),
    now,
  });

async function bench(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'sweep-'));
  const engine = await startDynamoDb({ directory });
  const { plain, client } = clientAt(engine.endpoint);
  try {
    for (const name of TABLES) await createTable(plain, name);
    process.exitCode = (await measure(client, engine.endpoint, join(directory, 'queue'))) ? 0 : 1;
  } finally {
    plain.destroy();
    await engine.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function measure(client: DynamoDBDocumentClient, at: string, queue: string): Promise<boolean> {
  const start = new Date();
  say(`Making ${SOURCES} sources of ${TENANTS} organizations, of which ${DUE} are due`);
  const due = new Set(await make(client, start));
  const consumed = metered(client);
  say(`\n${'phase'.padEnd(34)}${HEADS.map((head) => head.padStart(12)).join('')}`);
  const row = async <T>(name: string, run: () => Promise<[count: number, result: T]>): Promise<T> => {
    consumed();
    const began = performance.now();
    const [count, result] = await run();
    const seconds = ((performance.now() - began) / 1000).toFixed(2);
    const { reads, writes, requests } = consumed();
    const perEntry = count === 0 ? '-' : (writes / count).toFixed(1);
    const cells = [count, reads.toFixed(0), writes.toFixed(0), perEntry, requests, seconds];
    say(`${name.padEnd(34)}${cells.map((cell) => String(cell).padStart(12)).join('')}`);
    return result;
  };
  const runAt = async (now: Date): Promise<[number, BusEvent[]]> => {
    const sent: BusEvent[] = [];
    await sweepOf(
      client,
      () => now,
      async (events) => {
        sent.push(...events);
        return [];
      },
    )(() => true);
    return [sent.length, sent];
  };

  await row('nothing due', () => runAt(new Date(start.getTime() - 3_600_000)));
  const early = await killedRun(at, start, queue);
  say(`${'killed half-way'.padEnd(34)}${String(early.length).padStart(12)}   (another process: not metered)`);
  const resumed = await row('resumed', () => runAt(start));
  const messages = [...early, ...resumed];
  const fetched = new Map<string, number>();
  const checkAll = async (
    events: readonly BusEvent[],
    now: Date,
    finding: (source: Source) => CheckFinding,
  ) => {
    fetched.clear();
    const check = checksOf(client, now, (source) => {
      fetched.set(source.id, (fetched.get(source.id) ?? 0) + 1);
      return finding(source);
    });
    await checkWithinShares(events, check);
    return [fetched.size, undefined] as [number, undefined];
  };
  const afterStart = new Date(start.getTime() + 1);
  await row('first checks (5 KB of text each)', () =>
    checkAll(messages, afterStart, ({ id }) => ({ kind: 'fetched', text: textOf(id), etag: '"1"' })),
  );
  const isRight = expectOnce(due, messages, fetched);
  const anHourLater = new Date(start.getTime() + EVERY_SECONDS * 1000 + 60_000);
  const again = await row('an hour later', () => runAt(anHourLater));
  await row('checks, as before (304)', () =>
    checkAll(again, new Date(anHourLater.getTime() + 1), () => ({ kind: 'not-modified' })),
  );
  const twoHoursLater = new Date(anHourLater.getTime() + EVERY_SECONDS * 1000 + 1);
  const thirdTime = await row('two hours later', () => runAt(twoHoursLater));
  await row('checks, all of the text changed', () =>
    checkAll(thirdTime, new Date(twoHoursLater.getTime() + 1), ({ id }) => ({
      kind: 'fetched',
      text: textOf(`${id}x`),
    })),
  );
  return isRight;
}

/** Whether each due source was sent, and fetched exactly once however often it was sent; and no other. */
function expectOnce(due: Set<string>, messages: readonly BusEvent[], fetched: Map<string, number>): boolean {
  const sent = messages.map(({ data }) => String(data.sourceId));
  const missing = [...due].filter((id) => !sent.includes(id)).length;
  const others = sent.filter((id) => !due.has(id)).length;
  const twice = sent.length - new Set(sent).size;
  const wrong = [...due].filter((id) => fetched.get(id) !== 1).length + (fetched.size - due.size);
  say(
    `${'verdict'.padEnd(34)}due and not sent ${missing}, sent and not due ${others}, sent twice ${twice}, not fetched once ${wrong}`,
  );
  return missing === 0 && others === 0 && wrong === 0;
}

/** Checks again, as the queue would, what its organization's share of concurrent checks refused. */
async function checkWithinShares(
  events: readonly BusEvent[],
  check: (event: BusEvent) => Promise<void>,
): Promise<void> {
  for (let left = events; left.length > 0; ) {
    const refused: BusEvent[] = [];
    await mapConcurrently(left, CHECKS_AT_ONCE, (event) =>
      check(event).catch((error: unknown) => {
        if (!(error instanceof ShareInUse)) throw error;
        refused.push(event);
      }),
    );
    left = refused;
  }
}

/** Five kilobytes of unique words. */
const textOf = (id: string): string =>
  Array.from({ length: 500 }, (_, index) => `${id.slice(-4)}${index * 7919}`).join(' ');

function checksOf(client: DynamoDBDocumentClient, now: Date, look: (source: Source) => CheckFinding) {
  const service = tableOf(client, 'service');
  return checkSource(
    {
      sources: sourceChecks(tableOf(client, 'knowledge'), tableOf(client, 'outbox'), committer(client)),
      slots: checkSlots(tableOf(client, 'knowledge'), 5),
      organizations: organizationStore(service),
      organizationStates: organizationStates(readOrganizationState(service)),
      fetchContent: async (source) => look(source),
      onChecked: () => undefined,
      log: recordedLog(),
      now: () => now,
      random: Math.random,
    },
    { checkEverySeconds: EVERY_SECONDS, leaseSeconds: CHECK_LEASE_SECONDS },
  );
}

/**
 * Runs the schedule in a process of its own and kills that when it has sent half.
 * @returns what it sent
 */
async function killedRun(at: string, now: Date, queue: string): Promise<BusEvent[]> {
  appendFileSync(queue, '');
  const child = spawn(
    process.execPath,
    [import.meta.filename, ...[at, now.toISOString(), queue].map((value) => `--killed=${value}`)],
    { stdio: 'inherit' },
  );
  const ended = endOf(child);
  const sent = (): BusEvent[] =>
    readFileSync(queue, 'utf8')
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line));
  while (child.exitCode === null && sent().length < DUE / 2) await sleep(1);
  child.kill('SIGKILL');
  await ended;
  return sent();
}

const endOf = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => child.once('exit', () => resolve()));

/** @returns the due sources */
async function make(client: DynamoDBDocumentClient, start: Date): Promise<string[]> {
  const tenants = Array.from({ length: TENANTS }, () => ({ orgId: newId('org', start), generation: 0 }));
  await writeAll(
    client,
    'service',
    tenants.map(({ orgId }) => ({
      ...keys.organization(orgId),
      id: orgId,
      name: 'Example',
      environment: 'live',
      tier: 'standard',
      createdAt: start.toISOString(),
    })),
  );
  const due: string[] = [];
  const rows = Array.from({ length: SOURCES }, (_, index) => {
    const tenant = tenants[index % TENANTS] ?? { orgId: newId('org', start), generation: 0 };
    // Some are due since the last minute, the others within the fourth hour.
    const isDue = Math.floor((index * DUE) / SOURCES) !== Math.floor(((index + 1) * DUE) / SOURCES);
    const wait = isDue ? -Math.random() * 60 : 3 * EVERY_SECONDS + Math.random() * EVERY_SECONDS;
    const dueAt = new Date(start.getTime() + wait * 1000).toISOString();
    const source = createSource({
      ...tenant,
      id: newId('src', start),
      kind: 'url',
      url: `https://www.example.com/pages/${index}`,
      createdAt: new Date(start.getTime() - 86_400_000).toISOString(),
    });
    if (isDue) due.push(source.id);
    return {
      ...keys.source(tenant, source.id),
      ...source,
      dueIn: keys.dueSourcesOf(source.id),
      dueAt,
    };
  });
  await writeAll(client, 'knowledge', rows);
  return due;
}

async function writeAll(
  client: DynamoDBDocumentClient,
  table: string,
  rows: readonly object[],
): Promise<void> {
  const batches = Array.from({ length: Math.ceil(rows.length / BATCH) }, (_, index) =>
    rows.slice(index * BATCH, (index + 1) * BATCH),
  );
  await mapConcurrently(batches, AT_ONCE, (batch) =>
    client.send(
      new BatchWriteCommand({ RequestItems: { [table]: batch.map((Item) => ({ PutRequest: { Item } })) } }),
    ),
  );
}

const [endpoint, time, file] = options.killed ?? [];
if (endpoint !== undefined && time !== undefined && file !== undefined) {
  const now = new Date(time);
  await sweepOf(
    clientAt(endpoint).client,
    () => now,
    async (events) => {
      appendFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
      return [];
    },
  )(() => true);
} else await bench();
