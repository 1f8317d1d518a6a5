import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startDynamoDb } from 'aws-local/engines/dynamodb.ts';
import { commandLine, wholeNumber } from 'terminal/command-line.ts';
import { v7 } from 'uuid';
import type { Failure } from '../../functions/aws/concurrency.ts';
import { deriveDeliveryId, newId } from '../../functions/aws/ids.ts';
import type { Delivery, OutgoingMessage } from '../../functions/delivery/delivery.ts';
import { dueIndex } from '../../functions/delivery/due-index.ts';
import { reconcileDeliveries } from '../../functions/delivery/reconcile.ts';
import { RECONCILE_EVERY_SECONDS } from '../../functions/delivery/timing.ts';
import { keys } from '../../functions/tenancy/keys.ts';
import { recordedLog } from '../doubles/recorded-log.ts';
import { metered } from './consumed.ts';
import { createTable } from './create-table.ts';

/*
 * The cost of a reconciler run with many parked retries: the real code over the real store and the embedded
 * DynamoDB, on a clock that jumps from run to run, with a queue that only records. Consumed capacity is as
 * the engine reports.
 */
const { parked: PARKED, minutes: MINUTES } = commandLine(
  'npm run bench -- parked',
  'Parks so many deliveries, due at random moments of the coming minutes, runs the reconciler once a minute until all were resumed, and prints what each run found, consumed and took, and how late the latest was.',
)
  .option('--parked <n>', 'deliveries', wholeNumber(1, 100_000_000), 200_000)
  .option('--minutes <n>', 'in which they are due', wholeNumber(1, 10_000), 30)
  .parse()
  .opts();

/** Long, because resumed deliveries get no attempt here, and would be read again. */
const GRACE_SECONDS = 21_600;
const TABLE = 'deliveries';
/** DynamoDB's limit of items in one request, and concurrent requests. */
const BATCH = 25;
const AT_ONCE = 8;
const say = (text: string) => process.stdout.write(`${text}\n`);

const start = new Date();
const endpoints = Array.from({ length: 50 }, () => newId('whk', start));
const organization = newId('org', start);

/** The row of a delivery that waits for its seventh attempt. */
function rowOf(number: number): Record<string, unknown> {
  const dueAt = new Date(start.getTime() + Math.random() * MINUTES * 60_000).toISOString();
  const webhookId = endpoints[number % endpoints.length] ?? newId('whk', start);
  const eventId = `evt_${v7({ msecs: start.getTime() - 3_600_000 }).replaceAll('-', '')}` as const;
  const delivery: Delivery = {
    id: deriveDeliveryId(eventId, webhookId),
    orgId: organization,
    generation: 1,
    webhookId,
    eventId,
    eventType: 'message.received',
    status: 'retrying',
    attempts: 6,
    attemptLog: Array.from({ length: 6 }, (_, index) => ({
      number: index + 1,
      startedAt: start.toISOString(),
      durationMs: 40,
      status: 503,
      error: 'the receiver answered 503',
      errorCode: 'http_status',
    })),
    createdAt: start.toISOString(),
    nextRetryAt: dueAt,
    parked: true,
    lastError: 'the receiver answered 503',
    lastErrorCode: 'http_status',
    lastResponseStatus: 503,
  };
  return {
    ...keys.delivery(webhookId, 1, delivery.id),
    ...delivery,
    dueIn: keys.dueOf('parked', delivery.id),
    dueKey: keys.dueKey(delivery.orgId, dueAt),
  };
}

async function park(client: DynamoDBDocumentClient): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < PARKED) {
      const first = next;
      next += BATCH;
      const rows = Array.from({ length: Math.min(BATCH, PARKED - first) }, (_, index) =>
        rowOf(first + index),
      );
      await client.send(
        new BatchWriteCommand({ RequestItems: { [TABLE]: rows.map((Item) => ({ PutRequest: { Item } })) } }),
      );
      if (first % 20_000 === 0) say(styleText('dim', `  ${first} parked`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

const directory = await mkdtemp(join(tmpdir(), 'parked-'));
const engine = await startDynamoDb({ directory });
const plain = new DynamoDBClient({
  endpoint: engine.endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
});
try {
  const client = DynamoDBDocumentClient.from(plain, { marshallOptions: { removeUndefinedValues: true } });
  await createTable(plain, TABLE);
  say(`Parking ${PARKED} deliveries, due within ${MINUTES} minutes`);
  await park(client);

  const consumed = metered(client);
  let now = start;
  const resumed = new Map<string, { sentAt: Date; until: Date }>();
  const send = async <M extends OutgoingMessage>(
    _: 'retry',
    messages: readonly M[],
  ): Promise<Failure<M>[]> => {
    for (const { message, until = now } of messages) resumed.set(message.id, { sentAt: now, until });
    return [];
  };
  const run = reconcileDeliveries(
    {
      due: dueIndex({ client, name: TABLE }),
      queues: { send, backlog: async () => 0 },
      log: recordedLog(),
      now: () => now,
    },
    { graceSeconds: GRACE_SECONDS },
  );
  say(
    `\n${'run'.padEnd(6)}${['resumed', 'read units', 'per 1,000', 'write units', 'requests', 's'].map((head) => head.padStart(12)).join('')}`,
  );
  let late = 0;
  // The last of them are due within the last minute; the later runs find only the index's shards.
  for (let minute = 0; minute <= MINUTES + 1; minute += 1) {
    now = new Date(start.getTime() + minute * RECONCILE_EVERY_SECONDS * 1000);
    const began = performance.now();
    const done = await run(() => true);
    const seconds = (performance.now() - began) / 1000;
    const { reads, writes, requests } = consumed();
    late += [...resumed.values()].filter(({ sentAt, until }) => sentAt === now && until < now).length;
    const perEntry = done.resumed === 0 ? '-' : ((reads / done.resumed) * 1000).toFixed(0);
    say(
      `${String(minute).padEnd(6)}${[done.resumed, reads.toFixed(0), perEntry, writes.toFixed(0), requests, seconds.toFixed(1)].map((cell) => String(cell).padStart(12)).join('')}`,
    );
  }
  say(`\nresumed ${resumed.size} of ${PARKED}, ${late} after they were due`);
  process.exitCode = resumed.size === PARKED && late === 0 ? 0 : 1;
} finally {
  plain.destroy();
  await engine.stop();
  await rm(directory, { recursive: true, force: true });
}
