import { join } from 'node:path';
import { TrimmedDataAccessException } from '@aws-sdk/client-dynamodb-streams';
import type { Context } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import {
  ABANDONED_ENTRIES,
  BACKLOG_AGE,
  CHECKED,
  DEAD_LETTERS,
  DELIVERED,
  ENDED,
  IN_FLIGHT,
  LEDGER_DIFFERENCE,
  MAIL,
  PURGED,
  RECONCILED,
  REDELIVERIES_RESUMED,
  SWEPT,
  UNREADABLE_MESSAGES,
  UNREADABLE_ROWS,
} from '../../../functions/aws/metrics.ts';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { getHourBefore, NO_COUNTS } from '../../../functions/delivery/ledger.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { EXPIRY_SECONDS } from '../../../functions/delivery/timing.ts';
import { createNotice } from '../../../functions/events/bus.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { toRedeliveryRun } from '../../../functions/redelivery/jobs.ts';
import { buildSandboxMark, keys } from '../../../functions/tenancy/keys.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import {
  aBusEvent,
  aDelivery,
  anEndpoint,
  anEvent,
  aRedeliveryJob,
  aSource,
  aTenant,
  later,
  NOW,
  seconds,
} from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import {
  aRecord,
  awsServices,
  busMessage,
  capturedOutput,
  received,
  WITH_TIME,
  WITHOUT_TIME,
} from './worker-fixture.ts';

/*
 * What the modules of functions/workers add to the rules and stores that they connect: metrics, and the
 * identifiers of messages and records that are repeated. What a worker decides is tested in the folder of its
 * rules, and its resources where the template runs (test/integration/service/background).
 */

type Services = ReturnType<typeof awsServices>;
type Row = Record<string, unknown>;

const WORKERS = join(import.meta.dirname, '../../../functions/workers');
async function invoke(worker: string, event: unknown, context = WITH_TIME): Promise<unknown> {
  const { handler } = await import(join(WORKERS, `${worker}.ts`));
  return (handler as (event: unknown, context: Context) => Promise<unknown>)(event, context);
}

const DONE = { batchItemFailures: [] };
const REPEATED = (...ids: (string | number)[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier: String(itemIdentifier) })),
});
const outbox = outboxStore({ client: {} as never, name: 'outbox' });
const rowOf = (change: ReturnType<typeof outbox.append>): Row => change.write.Put?.Item ?? {};
const eventRow = (tenant: Tenant, now = new Date()) => rowOf(outbox.append(anEvent({ tenant, now })));
/** A row whose key is no id, and that only the publisher reads. */
function noticeRow(tenant: Tenant, now = new Date()): Row {
  const sourceId = newId('src', now);
  return rowOf(
    outbox.appendNotice(createNotice('source.check', `${sourceId}#now`, { sourceId }, { tenant, now })),
  );
}
const keyOf = ({ pk, sk }: Row) => ({ pk, sk });

function addEndpoint({ tables }: Services, tenant: Tenant, changes: Partial<Endpoint> = {}): Endpoint {
  const endpoint = anEndpoint({ orgId: tenant.orgId, ...changes });
  tables.put('service', { ...keys.endpoint(tenant.orgId, endpoint.id), ...endpoint });
  return endpoint;
}

/** A stored delivery with its endpoint and event. The URL's address is refused, so no request is sent. */
function addDelivery(aws: Services, changes: Partial<Endpoint> = {}) {
  const tenant = aws.addTenant();
  const endpoint = addEndpoint(aws, tenant, { url: 'https://169.254.169.254/hook', ...changes });
  const event = anEvent({ tenant, now: new Date() });
  const delivery = aDelivery({ ...tenant, webhookId: endpoint.id, eventId: event.id });
  const key = keys.delivery(endpoint.id, 0, delivery.id);
  aws.tables.put('outbox', { ...keys.event(event, event.id), ...event });
  aws.tables.put('deliveries', { ...key, ...delivery });
  return { message: toDeliveryMessage(delivery), read: () => aws.get('deliveries', key) };
}

/** A delivery in the index of due ones. */
function addDue(aws: Services, state: 'parked' | 'watched', lateSeconds: number, createdAt = new Date()) {
  const delivery = aDelivery({ id: newId('dlv', createdAt) });
  const dueAt = later(new Date(), -seconds(lateSeconds)).toISOString();
  const due = { dueIn: keys.dueOf(state, delivery.id), dueKey: keys.dueKey(delivery.orgId, dueAt) };
  aws.tables.put('deliveries', { ...keys.delivery(delivery.webhookId, 0, delivery.id), ...delivery, ...due });
}

const records = (...rows: Row[]) => ({ Records: rows.map((row, index) => aRecord(row, 100 + index)) });
/** The fields that a function needs of the message that Lambda sends to a failure destination. */
const DISCARDED = {
  requestContext: { condition: 'RetryAttemptsExhausted', approximateInvokeCount: 101 },
  DDBStreamBatchInfo: {
    shardId: 'shardId-1',
    startSequenceNumber: '1',
    endSequenceNumber: '2',
    batchSize: 2,
    streamArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/outbox/stream/1',
  },
};

// No hour may begin between a test and its worker, and jobs resend no event that is older than 30 days.
let runs = 0;
beforeEach(() => {
  // Each test begins an hour later, because attempts are measured at intervals.
  runs += 1;
  vi.useFakeTimers({ now: later(NOW, seconds(3600 * runs)), toFake: ['Date'] });
});
afterEach(() => void vi.useRealTimers());

type Case = (aws: Services) => Promise<void> | void;
/** What a scheduled worker finds, and the metrics of its run. */
const SCHEDULED: Record<string, [given: Case, result: object, metrics: Record<string, unknown>]> = {
  'audit-ledger': [
    (aws) => {
      const tenant = aws.addTenant({}, { isSandbox: true });
      const hour = getHourBefore(new Date(), 98);
      const id = newId('dlv', new Date(hour));
      const delivery = aDelivery({ ...tenant, id, status: 'succeeded', terminalAt: hour });
      const { webhookId } = delivery;
      const entry = { ...tenant, webhookId, hour };
      aws.tables.put('ledger', { ...keys.active(webhookId, 1, hour), ...entry });
      aws.tables.put('ledger', { ...keys.ledger(webhookId, 1, hour), ...NO_COUNTS, ...entry, owed: 1 });
      aws.tables.put('deliveries', { ...keys.delivery(webhookId, 1, id), ...delivery });
    },
    { entries: 1, differing: 1 },
    { [LEDGER_DIFFERENCE]: 1 },
  ],
  purge: [
    (aws) => {
      const sandbox = aTenant({ generation: 1 });
      const requestedAt = later(NOW, -seconds(3600)).toISOString();
      aws.tables.put('service', { ...keys.purge(sandbox), ...sandbox, requestedAt, deleted: 0 });
      for (const table of ['outbox', 'deliveries', 'ledger', 'knowledge', 'service'] as const)
        aws.tables.put(table, { pk: 'a', sk: 'b', ...buildSandboxMark(sandbox), text: 'more' });
    },
    { deleted: 5, closed: 1, open: 0 },
    { [PURGED.deleted]: 5, [PURGED.open]: undefined },
  ],
  reconcile: [
    (aws) => {
      addDue(aws, 'parked', 90);
      addDue(aws, 'watched', 60, later(new Date(), -seconds(EXPIRY_SECONDS + 60)));
      aws.answers.GetQueueAttributes = ({ QueueUrl }) => ({
        Attributes: {
          ApproximateNumberOfMessages: '0',
          ApproximateNumberOfMessagesNotVisible:
            QueueUrl === FUNCTION_ENVIRONMENT.RETRY_QUEUE ? '60000' : '7',
        },
      });
    },
    { resumed: 1, expired: 1 },
    {
      [RECONCILED.resumed]: 1,
      [RECONCILED.expired]: 1,
      [RECONCILED.latestSeconds]: 90,
      // A watched delivery is due a grace period after its message was.
      [BACKLOG_AGE]: 960,
      [IN_FLIGHT]: 50,
    },
  ],
  'resume-redelivery-jobs': [
    (aws) => {
      const createdAt = later(new Date(), -seconds(3600)).toISOString();
      const job = aRedeliveryJob({ ...aws.addTenant(), webhookId: newId('whk', NOW), createdAt });
      aws.tables.put('service', { ...keys.redeliveryJob(job, job.webhookId, job.id), ...job });
      aws.tables.put('service', { ...keys.redeliveryRun(job), ...toRedeliveryRun(job) });
    },
    { sent: 1 },
    { [REDELIVERIES_RESUMED]: 1 },
  ],
  'schedule-source-checks': [
    (aws) => {
      const source = aSource(aws.addTenant());
      const dueAt = later(new Date(), -seconds(90)).toISOString();
      const due = { dueIn: keys.dueSourcesOf(source.id), dueAt };
      aws.tables.put('knowledge', { ...keys.source(source, source.id), ...source, ...due });
    },
    { sent: 1 },
    { [SWEPT.sent]: 1, [SWEPT.latestSeconds]: 90 },
  ],
};

describe.each(Object.entries(SCHEDULED))('scheduled worker %s', (worker, [given, result, metrics]) => {
  it('counts what it has done', async () => {
    const aws = awsServices();
    const output = capturedOutput();
    await given(aws);

    expect(await invoke(worker, {})).toMatchObject(result);
    for (const [metric, value] of Object.entries(metrics))
      expect([metric, output.metric(metric)]).toEqual([metric, value]);
  });

  it('begins no page without enough time', async () => {
    const aws = awsServices();
    capturedOutput();
    await given(aws);

    await invoke(worker, {}, WITHOUT_TIME);
    expect(aws.inputs('Query')).toEqual([]);
    expect(aws.sent()).toEqual([]);
  });

  it('logs no result and counts nothing when nothing is due', async () => {
    awsServices();
    const output = capturedOutput();

    await invoke(worker, {});
    if (worker !== 'audit-ledger') expect(output.logged('INFO')).toEqual([]);
    for (const metric of [RECONCILED.expired, REDELIVERIES_RESUMED, SWEPT.latestSeconds, LEDGER_DIFFERENCE])
      expect(output.metric(metric)).toBeUndefined();
  });
});

it("the reconciler completes although no queue's attributes can be read", async () => {
  const aws = awsServices();
  const output = capturedOutput();
  aws.throttles = ({ operation }) => operation === 'GetQueueAttributes';

  expect(await invoke('reconcile', {})).toMatchObject({ complete: true });
  expect(output.logged('WARN')).toHaveLength(2);
  expect(output.metric(IN_FLIGHT)).toBeUndefined();
});

it('the source checker counts checks and failures', async () => {
  const aws = awsServices();
  const output = capturedOutput();
  const asked = ['200', '503'].map((program) => {
    const url = `https://example.com/?simulate=${program}`;
    const source = aSource({ ...aws.addTenant({}, { isSandbox: true }), url });
    aws.tables.put('knowledge', {
      ...keys.source(source, source.id),
      ...buildSandboxMark(source),
      ...source,
    });
    const { id: sourceId, orgId, generation } = source;
    const createdAt = new Date().toISOString();
    return busMessage(aBusEvent({ type: 'source.check', orgId, generation, createdAt, data: { sourceId } }));
  });

  expect(await invoke('check-source', received('checks', ...asked))).toEqual(DONE);
  expect(output.metric(CHECKED.checked)).toBe(2);
  expect(output.metric(CHECKED.failed)).toBe(1);
});

describe('dead-fan-outs', () => {
  it('reads the records that Lambda names, and sends the keys of those that fail again to its queue', async () => {
    const aws = awsServices();
    capturedOutput();
    const unlucky = aws.addTenant();
    addEndpoint(aws, unlucky);
    const rows = [eventRow(aws.addTenant()), eventRow(unlucky)];
    aws.stream(...rows);
    aws.throttles = ({ operation, input }) =>
      operation === 'PutItem' && JSON.stringify(input).includes(unlucky.orgId);

    expect(await invoke('dead-fan-outs', received('dead-fan-outs', DISCARDED))).toEqual(DONE);
    expect(aws.inputs('GetShardIterator')).toMatchObject([
      { StreamArn: DISCARDED.DDBStreamBatchInfo.streamArn, ShardId: 'shardId-1', SequenceNumber: '1' },
    ]);
    const body = { kind: 'entries', keys: [keyOf(rows[1] ?? {})] };
    expect(aws.sent()).toEqual([
      { queue: 'dead-fan-outs', Id: '0', DelaySeconds: 5, MessageGroupId: unlucky.orgId, body },
    ]);
  });

  it('gives up an unreadable message, and records that the stream has dropped, with an error and a count', async () => {
    const aws = awsServices();
    const output = capturedOutput();
    aws.answers.GetRecords = () => {
      throw new TrimmedDataAccessException({ message: 'trimmed', $metadata: {} });
    };
    const letters = ['{', {}, { kind: 'entries' }, { kind: 'records', records: {} }, DISCARDED];

    expect(await invoke('dead-fan-outs', received('dead-fan-outs', ...letters))).toEqual(DONE);
    expect(output.metric(ABANDONED_ENTRIES)).toBe(letters.length);
    expect(output.logged('ERROR')).toHaveLength(letters.length);
  });
});

it('dead-publications gives up entries that the bus has refused for three days, with any key, and counts them', async () => {
  const aws = awsServices();
  const output = capturedOutput();
  const tenant = aws.addTenant();
  const old = later(new Date(), -seconds(EXPIRY_SECONDS + 60));
  const rows = [eventRow(tenant, old), noticeRow(tenant, old), eventRow(tenant), noticeRow(tenant)];
  for (const row of rows) aws.tables.put('outbox', row);
  aws.throttles = ({ operation }) => operation === 'PutEvents';
  const letter = received('dead-publications', { kind: 'entries', keys: rows.map(keyOf) });

  expect(await invoke('dead-publications', letter)).toEqual(DONE);
  expect(aws.sent()).toMatchObject([{ body: { keys: rows.slice(2).map(keyOf) } }]);
  expect(output.metric(ABANDONED_ENTRIES)).toBe(2);
});

it('the worker of the delivery stream counts each end, those at an addition included, and unreadable rows', async () => {
  const aws = awsServices();
  const output = capturedOutput();
  const tenant = aws.addTenant({}, { isSandbox: true });
  const Records = [
    aRecord({ ...aDelivery(tenant), status: 'exhausted', attempts: 8 }, 42, 'MODIFY'),
    aRecord({ ...aDelivery(tenant), status: 'succeeded', attempts: 1 }, 43, 'MODIFY'),
    aRecord({ ...aDelivery(tenant), status: 'skipped' }, 44),
    // It had ended before its conversation was erased.
    aRecord({ ...aDelivery(tenant), status: 'succeeded', attempts: 1, erased: true }, 45, 'MODIFY'),
    aRecord(addDelivery(aws).read() ?? {}, 46),
    aRecord({ pk: 'x', status: 'lost' }, 47),
  ];

  expect(await invoke('delivery-stream', { Records, shardId: 'shardId-1' })).toEqual({ state: {} });
  expect(Object.values(ENDED).map(output.metric)).toEqual([1, 1, 1]);
  expect(output.metric(UNREADABLE_ROWS)).toBe(1);
  expect(output.lines.filter(({ level }) => level === 'ERROR')).toMatchObject([{ sequence: '47' }]);
});

describe('the dispatcher', () => {
  it('writes the metrics of a batch in one line', async () => {
    const aws = awsServices();
    const output = capturedOutput();
    const { message } = addDelivery(aws, { maxPerSecond: 100 });

    expect(await invoke('dispatch', received('fresh', message))).toEqual(DONE);
    expect(output.lines.filter((line) => '_aws' in line)).toMatchObject([
      { [DELIVERED.attempts]: 1, [DELIVERED.failedAttempts]: 1 },
    ]);
  });

  it('rejects a batch of an unknown queue', async () => {
    const aws = awsServices();
    capturedOutput();
    const { message, read } = addDelivery(aws);

    await expect(invoke('dispatch', received('dead-fan-outs', message))).rejects.toThrow('dead-fan-outs');
    expect(read()).toMatchObject({ attempts: 0 });
  });
});

it.each([
  [MAIL.sent, {}, DONE],
  [MAIL.failed, { $metadata: { httpStatusCode: 400 } }, REPEATED('message-1')],
])('the notifier counts an e-mail as %s, and logs no address', async (metric, refusal, result) => {
  const aws = awsServices();
  const output = capturedOutput();
  const tenant = aws.addTenant();
  const { id: webhookId } = addEndpoint(aws, tenant);
  const attributes = {
    email: 'ada@example.com',
    email_verified: 'true',
    'custom:organization': tenant.orgId,
    'custom:role': 'admin',
  };
  const Attributes = Object.entries(attributes).map(([Name, Value]) => ({ Name, Value }));
  aws.answers.ListUsers = () => ({ Users: [{ Enabled: true, UserStatus: 'CONFIRMED', Attributes }] });
  if (metric === MAIL.failed)
    aws.answers.SendEmail = () => {
      throw Object.assign(new Error('no'), refusal);
    };
  const data = { webhookId, disabledAt: NOW.toISOString(), lastError: 'the receiver answered 500' };
  const createdAt = NOW.toISOString();
  const detail = { id: `${webhookId}#disabled`, type: 'webhook.disabled', ...tenant, createdAt, data };

  expect(await invoke('notify', received('notify', { detail }))).toEqual(result);
  expect(aws.inputs('SendEmail')).toMatchObject([{ FromEmailAddress: FUNCTION_ENVIRONMENT.MAIL_FROM }]);
  expect(output.metric(metric)).toBe(1);
  expect(JSON.stringify(output.lines)).not.toContain('ada@');
});

describe.each(['dispatch', 'dead-delivery-messages'])('a batch of delivery messages in %s', (worker) => {
  it('leaves exactly the failed message in the queue, drops unreadable ones and counts them', async () => {
    const aws = awsServices();
    const output = capturedOutput();
    const [good, failing] = [addDelivery(aws), addDelivery(aws)];
    aws.throttles = ({ operation, input }) =>
      operation !== 'BatchGetItem' && JSON.stringify(input).includes(failing.message.webhookId);
    const batch = received('fresh', good.message, failing.message, 'no message', { id: 1 });

    expect(await invoke(worker, batch)).toEqual(REPEATED('message-2'));
    expect(output.metric(UNREADABLE_MESSAGES)).toBe(2);
    expect(output.metric(DEAD_LETTERS)).toBe(worker === 'dispatch' ? undefined : 2);
  });
});

const READERS = [
  { worker: 'fan-out', letters: 'dead-fan-outs', effects: 2 },
  { worker: 'publish', letters: 'dead-publications', effects: 1 },
];

describe.each(READERS)('failing records of the outbox in $worker', ({ worker, letters, effects }) => {
  /** A hundred records, of which one fails. */
  function addRecords() {
    const aws = awsServices();
    capturedOutput();
    const rows = Array.from({ length: 100 }, () => {
      const tenant = aws.addTenant();
      addEndpoint(aws, tenant);
      return eventRow(tenant);
    });
    const failing = rows[9] ?? {};
    const isFailing = (value: unknown) => JSON.stringify(value).includes(String(failing.id));
    aws.answers.PutEvents = ({ Entries }) => ({
      Entries: (Entries as Row[]).map((entry) =>
        isFailing(entry) ? { ErrorCode: 'ThrottlingException' } : { EventId: 'taken' },
      ),
    });
    aws.throttles = ({ operation, input }) => operation === 'PutItem' && isFailing(input);
    return { aws, rows, failing };
  }

  it('go to the queue of failed entries at once, and the others are processed once', async () => {
    const { aws, rows, failing } = addRecords();

    expect(await invoke(worker, records(...rows))).toEqual(DONE);
    const sent = aws.sent();
    expect(sent.filter(({ queue }) => queue === letters)).toMatchObject([
      { MessageGroupId: failing.orgId, body: { kind: 'entries', keys: [keyOf(failing)] } },
    ]);
    const taken = [
      ...aws.rows('deliveries').map(({ eventId }) => eventId),
      ...sent.map(({ body }) => (body as Row).eventId).filter((id) => id !== undefined),
      ...aws.published(),
    ];
    for (const { id } of rows)
      if (id !== failing.id) expect(taken.filter((each) => each === id)).toHaveLength(effects);
  });

  it('are repeated by the stream when that queue does not take them', async () => {
    const { aws, rows } = addRecords();
    aws.answers.SendMessageBatch = ({ QueueUrl, Entries }) => ({
      Failed: String(QueueUrl).endsWith(`/${letters}`) ? (Entries as Row[]).map(({ Id }) => ({ Id })) : [],
    });

    expect(await invoke(worker, records(...rows))).toEqual(REPEATED(109));
  });
});
