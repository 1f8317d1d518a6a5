import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { TrimmedDataAccessException } from '@aws-sdk/client-dynamodb-streams';
import type { Context } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { InvocationFailed } from '../../../functions/aws/logger.ts';
import {
  ABANDONED_ENTRIES,
  BACKLOG_AGE,
  CHECKED,
  DEAD_LETTERS,
  DELIVERED,
  ENDED,
  IN_FLIGHT,
  LEDGER_DIFFERENCE,
  LEFT_IN_QUEUE,
  MAIL,
  PURGED,
  RECONCILED,
  REDELIVERIES_RESUMED,
  SWEPT,
  UNREADABLE_MESSAGES,
  UNREADABLE_ROWS,
} from '../../../functions/aws/metrics.ts';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { getHourBefore, getLedgerHour, NO_COUNTS } from '../../../functions/delivery/ledger.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { EXPIRY_SECONDS, REDELIVER_ROUND_SECONDS } from '../../../functions/delivery/timing.ts';
import { createNotice } from '../../../functions/events/bus.ts';
import { buildContentMailKey } from '../../../functions/notices/mailings.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { buildRound, type RedeliveryJob, toRedeliveryRun } from '../../../functions/redelivery/jobs.ts';
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
 * What the modules of functions/workers add to the rules and stores that they connect: resources from the
 * environment, the identifiers of messages and records that are repeated, and metrics. What a worker decides
 * is tested in the folder of its rules.
 */

type Services = ReturnType<typeof awsServices>;
type Row = Record<string, unknown>;
type Handler = (event: unknown, context: Context) => Promise<unknown>;

const WORKERS = join(import.meta.dirname, '../../../functions/workers');
const modules = new Map<string, { handler: Handler; variables: string[] }>();
for (const file of globSync('*.ts', { cwd: WORKERS })) {
  const { handler, ...schemas } = await import(join(WORKERS, file));
  const [schema] = Object.values<{ shape: object }>(schemas);
  modules.set(basename(file, '.ts'), { handler, variables: Object.keys(schema?.shape ?? {}) });
}
const invoke = async (worker: string, event: unknown, context = WITH_TIME): Promise<unknown> =>
  modules.get(worker)?.handler(event, context);

const DONE = { batchItemFailures: [] };
const REPEATED = (...ids: (string | number)[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier: String(itemIdentifier) })),
});
const FAR_OFF = '2100-01-01T00:00:00.000Z';
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
const queueOf = (url: string) => url.split('/').at(-1);

function addEndpoint({ tables }: Services, tenant: Tenant, changes: Partial<Endpoint> = {}): Endpoint {
  const endpoint = anEndpoint({ orgId: tenant.orgId, ...changes });
  tables.put('service', { ...keys.endpoint(tenant.orgId, endpoint.id), ...endpoint });
  return endpoint;
}

/** An endpoint of each pace, by the queue of its first attempts. */
const addPaces = (aws: Services, tenant: Tenant) => [
  { pace: 'fresh', id: addEndpoint(aws, tenant).id },
  ...(['slow', 'stalled'] as const).map((is) => ({
    pace: is,
    id: addEndpoint(aws, tenant, { pace: { is, until: FAR_OFF } }).id,
  })),
];

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

/** A source of a sandbox, whose URL names the simulated answer, or of a live organization. */
function addSource(aws: Services, url: string, { isSandbox = true } = {}) {
  const source = aSource({ ...aws.addTenant({}, { isSandbox }), url });
  const key = keys.source(source, source.id);
  aws.tables.put('knowledge', { ...key, ...buildSandboxMark(source), ...source, baseline: 1 });
  const { id: sourceId, orgId, generation } = source;
  const ask = (type: string) =>
    busMessage(
      aBusEvent({ type, orgId, generation, createdAt: new Date().toISOString(), data: { sourceId } }),
    );
  return { source, key, ask, read: () => aws.get('knowledge', key) };
}

function addAdmin(aws: Services, tenant: Tenant) {
  const attributes = {
    email: 'ada@example.com',
    email_verified: 'true',
    'custom:organization': tenant.orgId,
    'custom:role': 'admin',
  };
  const Attributes = Object.entries(attributes).map(([Name, Value]) => ({ Name, Value }));
  aws.answers.ListUsers = () => ({ Users: [{ Enabled: true, UserStatus: 'CONFIRMED', Attributes }] });
}

/** The event of a disabled endpoint, as the bus sends it. */
function addDisabling(aws: Services, tenant = aws.addTenant()) {
  const { id: webhookId } = addEndpoint(aws, tenant);
  const data = { webhookId, disabledAt: NOW.toISOString(), lastError: 'the receiver answered 500' };
  const event = { id: `${webhookId}#disabled`, type: 'webhook.disabled', ...tenant };
  return { ...event, createdAt: NOW.toISOString(), data };
}

/** A running job of an endpoint with failed deliveries. */
function addJob(aws: Services, failures = 0, changes: Partial<Endpoint & Pick<RedeliveryJob, 'what'>> = {}) {
  const { what = 'failed', ...ofEndpoint } = changes;
  const tenant = aws.addTenant();
  const job = aRedeliveryJob({
    ...tenant,
    webhookId: newId('whk', NOW),
    what,
    from: later(new Date(), -seconds(3600)).toISOString(),
    to: new Date().toISOString(),
  });
  addEndpoint(aws, tenant, { ...ofEndpoint, id: job.webhookId });
  const run = keys.redeliveryRun(job);
  aws.tables.put('service', { ...keys.redeliveryJob(job, job.webhookId, job.id), ...job });
  aws.tables.put('service', { ...run, ...toRedeliveryRun(job) });
  const failed = Array.from({ length: failures }, () => {
    const eventId = newId('evt', later(new Date(), -seconds(60)));
    const delivery = aDelivery({
      orgId: job.orgId,
      webhookId: job.webhookId,
      eventId,
      status: 'exhausted',
    });
    aws.tables.put('deliveries', { ...keys.delivery(job.webhookId, 0, delivery.id), ...delivery });
    return delivery;
  });
  return { job, run, failed, message: busMessage(buildRound(job, job.round + 1, new Date())) };
}

/** A delivery in the index of due ones. */
function addDue(aws: Services, state: 'parked' | 'watched', lateSeconds: number, createdAt = new Date()) {
  const delivery = aDelivery({ id: newId('dlv', createdAt) });
  const dueAt = later(new Date(), -seconds(lateSeconds)).toISOString();
  const due = { dueIn: keys.dueOf(state, delivery.id), dueKey: keys.dueKey(delivery.orgId, dueAt) };
  const key = keys.delivery(delivery.webhookId, 0, delivery.id);
  aws.tables.put('deliveries', { ...key, ...delivery, ...due });
  return { delivery, read: () => aws.get('deliveries', key) };
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

/** Resources that functions name in their requests, by the variable that names them. */
const RESOURCE =
  /(?:_TABLE|_QUEUE|_BUS|_POOL|_FROM|_FUNCTION)$|^(?:DEAD_FAN_OUTS|DEAD_PUBLICATIONS|SIGNING_KEYS)$/;

/** Resources that no request names: a batch comes from the one, and the other is read once by all cases. */
const UNNAMED: Readonly<Record<string, string[]>> = { dispatch: ['FRESH_QUEUE', 'SIGNING_KEYS'] };

type Case = (aws: Services, output: ReturnType<typeof capturedOutput>) => Promise<void>;

/** The cases of each worker, by what it does. */
const CASES: Record<string, Record<string, Case>> = {
  'audit-ledger': {
    async 'corrects an entry that contradicts its deliveries, and counts it'(aws, output) {
      const tenant = aws.addTenant({}, { isSandbox: true });
      const hour = getHourBefore(new Date(), 98);
      const id = newId('dlv', new Date(hour));
      const delivery = aDelivery({ ...tenant, id, status: 'succeeded', terminalAt: hour });
      const { webhookId } = delivery;
      const key = keys.ledger(webhookId, 1, hour);
      const entry = { ...tenant, webhookId, hour };
      aws.tables.put('ledger', { ...keys.active(webhookId, 1, hour), ...entry });
      aws.tables.put('ledger', { ...key, ...NO_COUNTS, ...entry, owed: 1 });
      aws.tables.put('deliveries', { ...keys.delivery(webhookId, 1, id), ...delivery });

      expect(await invoke('audit-ledger', {})).toEqual({
        entries: 1,
        open: 0,
        differing: 1,
        complete: true,
      });
      expect(aws.get('ledger', key)).toMatchObject({ succeeded: 1 });
      expect(output.metric(LEDGER_DIFFERENCE)).toBe(1);
    },
  },
  'check-source': {
    async 'checks each source of a batch separately, and counts checks and failures'(aws, output) {
      const [good, bad] = ['200', '503'].map((program) =>
        addSource(aws, `https://example.com/?simulate=${program}`),
      );
      const batch = received('checks', good?.ask('source.check'), bad?.ask('source.check'));

      expect(await invoke('check-source', batch)).toEqual(DONE);
      expect(good?.read()).toMatchObject({ content: { words: expect.any(Number) } });
      expect(bad?.read()).toMatchObject({ lastError: expect.any(String) });
      expect(output.metric(CHECKED.checked)).toBe(2);
      expect(output.metric(CHECKED.failed)).toBe(1);
    },
    async 'invokes the extraction function for a live source, and repeats a message that it could not'(aws) {
      const [good, throttled] = ['good', 'throttled'].map((name) =>
        addSource(aws, `https://example.com/${name}`, { isSandbox: false }),
      );
      let text = 'one two three';
      aws.answers.Invoke = ({ Payload }) => {
        if (String(Payload).includes('throttled')) throw new Error('TooManyRequestsException');
        return { Payload: Buffer.from(JSON.stringify({ kind: 'fetched', text })) };
      };
      const batch = received('checks', throttled?.ask('source.check'), good?.ask('source.check'));

      expect(await invoke('check-source', batch)).toEqual(REPEATED('message-1'));
      expect(good?.read()).toMatchObject({ content: { words: 3 } });
      expect(throttled?.read()).not.toHaveProperty('lastError');

      text = 'four five six';
      vi.setSystemTime(later(new Date(), seconds(7200)));
      await invoke('check-source', received('checks', good?.ask('source.check')));
      expect(aws.rows('outbox')).toMatchObject([{ type: 'source.changed' }]);
    },
    async 'hides the message of an organization without a free slot'(aws) {
      const { source, ask } = addSource(aws, 'https://example.com/', { isSandbox: false });
      const lease = { token: 'another', until: Date.now() + 60_000 };
      const slots = Array.from({ length: 5 }, (_, slot) => [`slot${slot}`, lease]);
      aws.tables.put('knowledge', { ...keys.checkSlots(source), ...Object.fromEntries(slots) });

      expect(await invoke('check-source', received('checks', ask('source.check')))).toEqual(
        REPEATED('message-1'),
      );
      expect(aws.inputs('ChangeMessageVisibility')).toEqual([
        {
          QueueUrl: FUNCTION_ENVIRONMENT.CHECKS_QUEUE,
          ReceiptHandle: 'receipt-1',
          VisibilityTimeout: expect.toSatisfy((time: number) => time >= 0 && time <= 1),
        },
      ]);
    },
  },
  'dead-delivery-messages': {
    async 'adds their deliveries to the due index, and counts them'(aws, output) {
      const deliveries = [addDelivery(aws), addDelivery(aws)];
      const batch = received('dead', ...deliveries.map(({ message }) => message));

      expect(await invoke('dead-delivery-messages', batch)).toEqual(DONE);
      for (const { message, read } of deliveries)
        expect(read()).toMatchObject({ dueIn: keys.dueOf('watched', message.id) });
      expect(output.metric(DEAD_LETTERS)).toBe(2);
    },
  },
  'dead-fan-outs': {
    async 'fans out the records that Lambda names, and sends the keys of those that fail again to its queue'(
      aws,
    ) {
      const [tenant, unlucky] = [aws.addTenant(), aws.addTenant()];
      addEndpoint(aws, unlucky);
      const endpoints = addPaces(aws, tenant);
      const rows = [eventRow(tenant), eventRow(unlucky)];
      aws.stream(...rows);
      aws.throttles = ({ operation, input }) =>
        operation === 'PutItem' && JSON.stringify(input).includes(unlucky.orgId);

      expect(await invoke('dead-fan-outs', received('dead-fan-outs', DISCARDED))).toEqual(DONE);
      expect(aws.inputs('GetShardIterator')).toMatchObject([
        {
          StreamArn: DISCARDED.DDBStreamBatchInfo.streamArn,
          ShardId: 'shardId-1',
          SequenceNumber: '1',
        },
      ]);
      const letter = { kind: 'entries', keys: [keyOf(rows[1] ?? {})] };
      expect(aws.sent()).toHaveLength(4);
      expect(aws.sent()).toEqual(
        expect.arrayContaining(
          [
            ...endpoints.map(({ pace, id }) => ({
              queue: pace,
              body: expect.objectContaining({ webhookId: id }),
            })),
            { queue: 'dead-fan-outs', DelaySeconds: 5, MessageGroupId: unlucky.orgId, body: letter },
          ].map((entry) => expect.objectContaining(entry)),
        ),
      );

      aws.throttles = () => false;
      aws.tables.put('outbox', rows[1] ?? {});
      expect(await invoke('dead-fan-outs', received('dead-fan-outs', letter))).toEqual(DONE);
      expect(aws.rows('deliveries')).toHaveLength(4);
      expect(aws.inputs('GetItem').find(({ TableName }) => TableName === 'outbox')).toMatchObject({
        ConsistentRead: true,
      });
    },
    async 'gives up an unreadable message, and records that the stream has dropped, with an error and a count'(
      aws,
      output,
    ) {
      aws.answers.GetRecords = () => {
        throw new TrimmedDataAccessException({ message: 'trimmed', $metadata: {} });
      };
      const letters = ['{', {}, { kind: 'entries' }, { kind: 'records', records: {} }, DISCARDED];

      expect(await invoke('dead-fan-outs', received('dead-fan-outs', ...letters))).toEqual(DONE);
      expect(output.metric(ABANDONED_ENTRIES)).toBe(letters.length);
      expect(output.logged('ERROR')).toHaveLength(letters.length);
    },
    async 'hides a letter whose entries all fail again'(aws) {
      const row = eventRow(aws.addTenant());
      aws.tables.put('outbox', row);
      aws.throttles = ({ operation }) => operation === 'Query';
      const letter = received('dead-fan-outs', { kind: 'entries', keys: [keyOf(row)] });

      expect(await invoke('dead-fan-outs', letter)).toEqual(REPEATED('message-1'));
      expect(aws.inputs('ChangeMessageVisibility')).toMatchObject([
        { QueueUrl: FUNCTION_ENVIRONMENT.DEAD_FAN_OUTS, ReceiptHandle: 'receipt-1' },
      ]);
    },
  },
  'dead-publications': {
    async 'puts the records that Lambda names on the bus, and sends the keys of refused ones to its queue'(
      aws,
    ) {
      const tenant = aws.addTenant();
      const rows = [eventRow(tenant), noticeRow(tenant)];
      aws.stream(...rows);
      const takes = aws.answers.PutEvents;
      aws.answers.PutEvents = () => ({
        Entries: [{ EventId: 'taken' }, { ErrorCode: 'ThrottlingException' }],
      });

      expect(await invoke('dead-publications', received('dead-publications', DISCARDED))).toEqual(DONE);
      const letter = { kind: 'entries', keys: [keyOf(rows[1] ?? {})] };
      expect(aws.sent()).toMatchObject([{ queue: 'dead-publications', DelaySeconds: 5, body: letter }]);

      if (takes) aws.answers.PutEvents = takes;
      aws.tables.put('outbox', rows[1] ?? {});
      expect(await invoke('dead-publications', received('dead-publications', letter))).toEqual(DONE);
      expect(aws.published()).toEqual([rows[0]?.id, rows[1]?.id, rows[1]?.id]);
    },
    async 'gives up entries that the bus has refused for three days, with any key, and counts them'(
      aws,
      output,
    ) {
      const tenant = aws.addTenant();
      const old = later(new Date(), -seconds(EXPIRY_SECONDS + 60));
      const rows = [eventRow(tenant, old), noticeRow(tenant, old), eventRow(tenant), noticeRow(tenant)];
      for (const row of rows) aws.tables.put('outbox', row);
      aws.throttles = ({ operation }) => operation === 'PutEvents';
      const letter = received('dead-publications', { kind: 'entries', keys: rows.map(keyOf) });

      expect(await invoke('dead-publications', letter)).toEqual(DONE);
      expect(aws.sent()).toMatchObject([{ body: { keys: rows.slice(2).map(keyOf) } }]);
      expect(output.metric(ABANDONED_ENTRIES)).toBe(2);
    },
  },
  'delivery-stream': {
    async 'counts additions and ends, in the ledger and as metrics, and watches what is open'(aws, output) {
      const tenant = aws.addTenant({}, { isSandbox: true });
      const delivery = aDelivery(tenant);
      const end = { ...delivery, status: 'exhausted', attempts: 8 };
      const open = addDelivery(aws);
      const Records = [
        aRecord(delivery, 41),
        aRecord(end, 42, 'MODIFY'),
        aRecord({ ...aDelivery(tenant), status: 'succeeded', attempts: 1 }, 43, 'MODIFY'),
        aRecord({ ...aDelivery(tenant), status: 'skipped' }, 44),
        aRecord(open.read() ?? {}, 45),
        aRecord({ pk: 'x', status: 'lost' }, 46),
      ];

      expect(await invoke('delivery-stream', { Records, shardId: 'shardId-1' })).toEqual({ state: {} });
      const hour = getLedgerHour(delivery);
      expect(aws.get('ledger', keys.active(delivery.webhookId, 1, hour))).toBeDefined();
      expect(aws.get('ledger', keys.ledger(delivery.webhookId, 1, hour))).toMatchObject({
        owed: 1,
        exhausted: 1,
        duplicates: 8,
      });
      expect(open.read()).toMatchObject({ dueIn: keys.dueOf('watched', open.message.id) });
      expect(Object.values(ENDED).map(output.metric)).toEqual([1, 1, 1]);
      expect(output.metric(UNREADABLE_ROWS)).toBe(1);
      expect(output.lines.filter(({ level }) => level === 'ERROR')).toMatchObject([{ sequence: '46' }]);
    },
    async 'fails when a write fails, so that the stream repeats the batch'(aws) {
      const delivery = aDelivery(aws.addTenant());
      aws.throttles = ({ input }) => input.TableName === 'ledger';
      const event = { Records: [aRecord(delivery, 41)], shardId: 'shardId-1' };

      await expect(invoke('delivery-stream', event)).rejects.toThrow(InvocationFailed);
    },
  },
  dispatch: {
    async 'sends the message of a failed first attempt to the retry queue, and writes its metrics in one line'(
      aws,
      output,
    ) {
      const { message, read } = addDelivery(aws, { maxPerSecond: 100 });

      expect(await invoke('dispatch', received('fresh', message))).toEqual(DONE);
      expect(read()).toMatchObject({
        status: 'retrying',
        attempts: 1,
        lastError: expect.stringMatching(/address|host/),
      });
      expect(aws.sent()).toMatchObject([
        { queue: 'retry', body: message, MessageGroupId: message.orgId, DelaySeconds: 30 },
      ]);
      expect(output.lines.filter((line) => '_aws' in line)).toMatchObject([
        { [DELIVERED.attempts]: 1, [DELIVERED.failedAttempts]: 1 },
      ]);
    },
    async 'hides a message of the retry queue, and reports it'(aws) {
      const { message } = addDelivery(aws);

      expect(await invoke('dispatch', received('retry', message))).toEqual(REPEATED('message-1'));
      expect(aws.inputs('ChangeMessageVisibility')).toEqual([
        {
          QueueUrl: FUNCTION_ENVIRONMENT.RETRY_QUEUE,
          ReceiptHandle: 'receipt-1',
          VisibilityTimeout: 30,
        },
      ]);
      expect(aws.sent()).toEqual([]);
    },
    async 'moves a message unclaimed to the queue of its pace, and keeps it when it could not be moved'(aws) {
      for (const pace of ['slow', 'stalled'] as const) {
        const { message, read } = addDelivery(aws, { pace: { is: pace, until: FAR_OFF } });
        aws.answers.SendMessageBatch = () => ({ Failed: [{ Id: '0', Code: 'InternalError' }] });
        expect(await invoke('dispatch', received('fresh', message))).toEqual(REPEATED('message-1'));

        aws.answers.SendMessageBatch = () => ({});
        expect(await invoke('dispatch', received('fresh', message))).toEqual(DONE);
        expect(aws.sent().at(-1)).toMatchObject({ queue: pace, body: message });
        expect(read()).toMatchObject({ status: 'pending', attempts: 0 });
      }
    },
    async 'parks a delivery whose queue nears its limit of messages in flight'(aws) {
      const { message, read } = addDelivery(aws, { pace: { is: 'slow', until: FAR_OFF } });
      aws.answers.GetQueueAttributes = ({ QueueUrl }) => ({
        Attributes: {
          ApproximateNumberOfMessagesNotVisible: QueueUrl === FUNCTION_ENVIRONMENT.SLOW_QUEUE ? '60000' : '0',
        },
      });

      expect(await invoke('dispatch', received('slow', message))).toEqual(DONE);
      expect(read()).toMatchObject({ parked: true, dueIn: keys.dueOf('parked', message.id) });
      expect(aws.sent()).toEqual([]);
    },
    async 'rejects a batch of an unknown queue'(aws) {
      const { message, read } = addDelivery(aws);

      await expect(invoke('dispatch', received('dead-fan-outs', message))).rejects.toThrow('dead-fan-outs');
      expect(read()).toMatchObject({ attempts: 0 });
    },
  },
  'fan-out': {
    async "adds a delivery for each subscriber, and sends its message to the queue of the endpoint's pace"(
      aws,
      output,
    ) {
      const tenant = aws.addTenant();
      const endpoints = addPaces(aws, tenant);
      const resent = toDeliveryMessage(aDelivery(tenant));
      const ofNoOrganization = toDeliveryMessage(aDelivery());
      const batch = records(
        eventRow(tenant),
        rowOf(outbox.appendRedelivery(resent)),
        rowOf(outbox.appendRedelivery(ofNoOrganization)),
        noticeRow(tenant),
        { ...eventRow(tenant), body: undefined },
        {},
      );

      expect(await invoke('fan-out', batch)).toEqual(DONE);
      expect(aws.rows('deliveries')).toHaveLength(3);
      expect(aws.sent()).toHaveLength(5);
      expect(aws.sent()).toEqual(
        expect.arrayContaining(
          [
            ...endpoints.map(({ pace, id }) => ({
              queue: pace,
              body: expect.objectContaining({ webhookId: id }),
            })),
            { queue: 'fresh', body: resent },
            {
              queue: 'dead-fan-outs',
              body: { kind: 'entries', keys: [keys.redelivery(ofNoOrganization.id)] },
            },
          ].map((entry) => expect.objectContaining(entry)),
        ),
      );
      expect(output.metric(ABANDONED_ENTRIES)).toBe(2);
      expect(output.logged('ERROR').length).toBeGreaterThanOrEqual(2);
    },
  },
  meter: {
    async 'counts its messages in one transaction per organization, and nothing of a sandbox'(aws) {
      const [tenant, other, sandbox] = [
        aws.addTenant(),
        aws.addTenant(),
        aws.addTenant({}, { isSandbox: true }),
      ];
      const batch = [
        aBusEvent(tenant),
        aBusEvent({ ...tenant, type: 'conversation.created' }),
        aBusEvent(other),
        aBusEvent(sandbox),
      ];

      expect(await invoke('meter', received('meter', ...batch.map(busMessage)))).toEqual(DONE);
      expect(aws.inputs('TransactWriteItems')).toHaveLength(2);
      const counted = aws.rows('usage').filter(({ messages }) => messages !== undefined);
      expect(counted).toHaveLength(2);
      expect(counted).toContainEqual(expect.objectContaining({ conversations: 1, messages: 1 }));
    },
  },
  notify: {
    async 'sends an e-mail from the sender address of the deployment, and counts and records it'(
      aws,
      output,
    ) {
      const tenant = aws.addTenant();
      const disabling = addDisabling(aws, tenant);
      addAdmin(aws, tenant);

      expect(await invoke('notify', received('notify', { detail: disabling }))).toEqual(DONE);
      expect(aws.inputs('SendEmail')).toMatchObject([
        {
          FromEmailAddress: FUNCTION_ENVIRONMENT.MAIL_FROM,
          Destination: { ToAddresses: ['ada@example.com'] },
        },
      ]);
      expect(aws.get('mailings', keys.mailing(tenant.orgId, `mail#${disabling.id}`))).toBeDefined();
      expect(output.metric(MAIL.sent)).toBe(1);
      expect(JSON.stringify(output.lines)).not.toContain('ada@');
    },
    async 'links to the dashboard, and records the notified version at the source'(aws) {
      const { source, read } = addSource(aws, 'https://www.example.com/prices', { isSandbox: false });
      addAdmin(aws, source);
      const { url, kind } = source;
      const data = { sourceId: source.id, url, kind, version: 2, difference: 50, added: 'a', removed: 'b' };
      const change = {
        id: `${source.id}#changed#2`,
        type: 'source.changed',
        orgId: source.orgId,
        generation: 0,
        createdAt: NOW.toISOString(),
        data,
      };

      expect(await invoke('notify', received('notify', { detail: change }))).toEqual(DONE);
      expect(JSON.stringify(aws.inputs('SendEmail'))).toContain(
        `${FUNCTION_ENVIRONMENT.DASHBOARD_ORIGIN}/sources/${source.id}`,
      );
      expect(aws.get('mailings', keys.mailing(source.orgId, buildContentMailKey(url)))).toBeDefined();
      expect(read()).toMatchObject({ lastNotifiedAt: expect.any(String) });
    },
    async 'leaves a refused e-mail in the queue, and counts it'(aws, output) {
      const tenant = aws.addTenant();
      addAdmin(aws, tenant);
      aws.answers.SendEmail = () => {
        throw Object.assign(new Error('no'), { $metadata: { httpStatusCode: 400 } });
      };
      const batch = received('notify', { detail: addDisabling(aws, tenant) });

      expect(await invoke('notify', batch)).toEqual(REPEATED('message-1'));
      expect(output.metric(MAIL.failed)).toBe(1);
    },
    async 'sends nothing for a sandbox, and reads no admins'(aws) {
      const disabling = addDisabling(aws, aws.addTenant({}, { isSandbox: true }));

      expect(await invoke('notify', received('notify', { detail: disabling }))).toEqual(DONE);
      expect([...aws.inputs('SendEmail'), ...aws.inputs('ListUsers')]).toEqual([]);
    },
  },
  publish: {
    async 'puts the events of the outbox on the bus of its environment'(aws, output) {
      const tenant = aws.addTenant();
      const rows = [eventRow(tenant), noticeRow(tenant)];
      const others = [
        rowOf(outbox.append(anEvent({ tenant, onlyTo: newId('whk', NOW) }))),
        rowOf(outbox.appendRedelivery(toDeliveryMessage(aDelivery()))),
        { ...eventRow(tenant), body: undefined },
      ];
      aws.answers.PutEvents = () => ({
        Entries: [{ EventId: 'taken' }, { ErrorCode: 'ThrottlingException' }],
      });

      expect(await invoke('publish', records(...rows, ...others))).toEqual(DONE);
      expect(aws.published()).toEqual(rows.map(({ id }) => id));
      expect(aws.inputs('PutEvents')).toMatchObject([
        { Entries: [{ EventBusName: 'bus', DetailType: 'conversation.created' }, {}] },
      ]);
      expect(aws.sent()).toMatchObject([{ queue: 'dead-publications' }]);
      expect(output.metric(ABANDONED_ENTRIES)).toBe(1);
    },
    async 'sends no request for entries without an event for the bus'(aws) {
      await invoke('publish', records(rowOf(outbox.appendRedelivery(toDeliveryMessage(aDelivery())))));

      expect(aws.calls).toEqual([]);
    },
  },
  purge: {
    async 'deletes the rows of every table by their keys, closes the order, and counts'(aws, output) {
      const sandbox = aTenant({ generation: 1 });
      const order = {
        ...keys.purge(sandbox),
        ...sandbox,
        requestedAt: later(NOW, -seconds(3600)).toISOString(),
        deleted: 0,
      };
      aws.tables.put('service', order);
      const tables = ['outbox', 'deliveries', 'ledger', 'knowledge', 'service'] as const;
      for (const table of tables)
        aws.tables.put(table, { pk: 'a', sk: 'b', ...buildSandboxMark(sandbox), text: 'more' });

      expect(await invoke('purge', {})).toEqual({ deleted: 5, closed: 1, open: 0, oldestSeconds: 0 });
      expect(tables.flatMap((table) => aws.rows(table))).toEqual([]);
      expect(output.metric(PURGED.deleted)).toBe(5);
      expect(output.metric(PURGED.open)).toBeUndefined();
    },
  },
  reconcile: {
    async 'sends parked deliveries to the retry queue, and reports the delay and the fullest queue'(
      aws,
      output,
    ) {
      const parked = addDue(aws, 'parked', 90);
      const expired = addDue(aws, 'watched', 60, later(new Date(), -seconds(EXPIRY_SECONDS + 60)));
      const inFlight = {
        [FUNCTION_ENVIRONMENT.FRESH_QUEUE]: '1200',
        [FUNCTION_ENVIRONMENT.RETRY_QUEUE]: '60000',
      };
      aws.answers.GetQueueAttributes = ({ QueueUrl }) => ({
        Attributes: {
          ApproximateNumberOfMessages: '0',
          ApproximateNumberOfMessagesNotVisible: inFlight[String(QueueUrl)] ?? '7',
        },
      });

      expect(await invoke('reconcile', {})).toMatchObject({ resumed: 1, expired: 1, complete: true });
      expect(aws.sent()).toMatchObject([{ queue: 'retry', body: { id: parked.delivery.id } }]);
      expect(parked.read()).toMatchObject({ dueIn: keys.dueOf('watched', parked.delivery.id) });
      expect(expired.read()).toMatchObject({ status: 'skipped', terminalReason: 'expired' });
      expect(output.metric(RECONCILED.resumed)).toBe(1);
      expect(output.metric(RECONCILED.expired)).toBe(1);
      expect(output.metric(RECONCILED.latestSeconds)).toBeGreaterThanOrEqual(90);
      expect(output.metric(BACKLOG_AGE)).toBeGreaterThanOrEqual(90);
      expect(output.metric(IN_FLIGHT)).toBe(50);
    },
    async "completes although no queue's attributes can be read"(aws, output) {
      aws.throttles = ({ operation }) => operation === 'GetQueueAttributes';

      expect(await invoke('reconcile', {})).toMatchObject({ complete: true });
      expect(output.logged('WARN')).toHaveLength(2);
      expect(output.metric(IN_FLIGHT)).toBeUndefined();
    },
  },
  redeliver: {
    async 'adds a delivery for each failed one, sends its message to the slow queue, and ends the job'(aws) {
      const { job, failed, message } = addJob(aws, 12);
      // A page ends when its deliveries have been attempted.
      aws.answers.SendMessageBatch = ({ Entries }) => {
        for (const { MessageBody } of Entries as { MessageBody: string }[]) {
          const { webhookId, id } = JSON.parse(MessageBody);
          const row = aws.get('deliveries', keys.delivery(webhookId, 0, id));
          aws.tables.put('deliveries', { ...row, status: 'succeeded', attempts: 1 });
        }
        return {};
      };

      expect(await invoke('redeliver', received('redeliver', message))).toEqual(DONE);
      const added = aws.rows('deliveries').filter(({ redeliveryOf }) => redeliveryOf !== undefined);
      expect(added.map(({ redeliveryOf }) => redeliveryOf).toSorted()).toEqual(
        failed.map(({ id }) => id).toSorted(),
      );
      expect(new Set(aws.sent().map(({ queue }) => queue))).toEqual(new Set(['slow']));
      expect(aws.get('service', keys.redeliveryJob(job, job.webhookId, job.id))).toMatchObject({
        status: 'done',
        redelivered: 12,
      });
    },
    async 'sends the next round of a long job to its own queue, and the messages of a stalled endpoint to theirs'(
      aws,
    ) {
      const { job, message } = addJob(aws, 3, { pace: { is: 'stalled', until: FAR_OFF } });
      // The first page takes as long as a round may.
      aws.answers.SendMessageBatch = () => {
        vi.setSystemTime(later(new Date(), seconds(REDELIVER_ROUND_SECONDS)));
        return {};
      };

      expect(await invoke('redeliver', received('redeliver', message))).toEqual(DONE);
      expect(aws.sent().at(0)).toMatchObject({ queue: 'stalled' });
      expect(aws.sent().at(-1)).toMatchObject({
        queue: 'redeliveries',
        body: { detail: { id: `${job.id}#round#2`, data: { redeliveryId: job.id, round: 2 } } },
      });
    },
    async 'reads events without a delivery from the outbox for a job of missing ones'(aws) {
      const { message } = addJob(aws, 0, { what: 'missing' });

      expect(await invoke('redeliver', received('redeliver', message))).toEqual(DONE);
      expect(aws.inputs('Query').map(({ TableName }) => TableName)).toContain('outbox');
    },
    async 'repeats its message when a queue refuses a part'(aws) {
      const { message } = addJob(aws, 1);
      aws.answers.SendMessageBatch = () => ({ Failed: [{ Id: '0', Code: 'InternalError' }] });

      expect(await invoke('redeliver', received('redeliver', message))).toEqual(REPEATED('message-1'));
    },
  },
  'resume-redelivery-jobs': {
    async 'sends the message of a job without a worker to its queue, records it, and counts such jobs'(
      aws,
      output,
    ) {
      const { job, run } = addJob(aws);
      const before = aws.get('service', run);

      vi.setSystemTime(later(new Date(), seconds(3600)));
      expect(await invoke('resume-redelivery-jobs', {})).toMatchObject({ sent: 1, complete: true });
      expect(aws.sent()).toMatchObject([
        { queue: queueOf(FUNCTION_ENVIRONMENT.REDELIVERIES_QUEUE), body: { detail: { data: {} } } },
      ]);
      expect(JSON.stringify(aws.sent())).toContain(job.id);
      expect(aws.get('service', run)).not.toEqual(before);
      expect(output.metric(REDELIVERIES_RESUMED)).toBe(1);
    },
  },
  'schedule-source-checks': {
    async 'sends a message for each due source, updates the index, and reports the delay'(aws, output) {
      const source = aSource(aws.addTenant());
      const key = keys.source(source, source.id);
      const dueAt = later(new Date(), -seconds(90)).toISOString();
      aws.tables.put('knowledge', { ...key, ...source, dueIn: keys.dueSourcesOf(source.id), dueAt });

      expect(await invoke('schedule-source-checks', {})).toMatchObject({ sent: 1, complete: true });
      expect(aws.sent()).toMatchObject([{ queue: 'checks' }]);
      expect(aws.get('knowledge', key)?.dueAt).not.toBe(dueAt);
      expect(output.metric(SWEPT.sent)).toBe(1);
      expect(output.metric(SWEPT.latestSeconds)).toBeGreaterThanOrEqual(90);
    },
  },
};

// No hour may begin between a test and its worker, and jobs resend no event that is older than 30 days.
let runs = 0;
/** Each run begins an hour later, because attempts are measured at intervals. */
const startClock = () => {
  runs += 1;
  vi.useFakeTimers({ now: later(NOW, seconds(3600 * runs)), toFake: ['Date'] });
};
beforeEach(startClock);
afterEach(() => void vi.useRealTimers());

it('every worker but those that no queue, stream or schedule invokes has its cases', () => {
  expect([...modules.keys()].toSorted()).toEqual(
    [...Object.keys(CASES), 'enrol', 'extract-content'].toSorted(),
  );
});

describe.each(Object.entries(CASES))('worker %s', (worker, cases) => {
  it.each(Object.entries(cases))('%s', async (_, run) => {
    await run(awsServices(), capturedOutput());
  });

  it('uses the resources of its environment, and no others', async () => {
    const used = new Set<string>();
    const environment: Readonly<Record<string, string>> = FUNCTION_ENVIRONMENT;
    const names = Object.entries(environment).filter(([variable]) => RESOURCE.test(variable));
    for (const run of Object.values(cases)) {
      startClock();
      const aws = awsServices();
      await run(aws, capturedOutput());
      const requests = aws.calls.map(({ input }) => JSON.stringify(input));
      for (const [variable, value] of names)
        if (requests.some((request) => request.includes(`"${value}"`))) used.add(variable);
    }
    const { variables = [] } = modules.get(worker) ?? {};
    const named = variables.filter((name) => RESOURCE.test(name) && !UNNAMED[worker]?.includes(name));
    expect([...used].toSorted()).toEqual(named.toSorted());
  });
});

/** Two messages of each queue: a good one, and one whose organization's calls are throttled. */
const BATCHES: Record<string, (aws: Services) => { good: unknown; failing: unknown; orgId: string }> = {
  'check-source'(aws) {
    const [good, failing] = ['a', 'b'].map((name) =>
      addSource(aws, `https://example.com/${name}?simulate=200`),
    );
    aws.answers.Invoke = () => ({
      Payload: Buffer.from(JSON.stringify({ kind: 'fetched', text: 'one two three' })),
    });
    return {
      good: good?.ask('source.check'),
      failing: failing?.ask('source.check'),
      orgId: String(failing?.source.orgId),
    };
  },
  'dead-delivery-messages'(aws) {
    const [good, failing] = [addDelivery(aws), addDelivery(aws)];
    return { good: good.message, failing: failing.message, orgId: failing.message.webhookId };
  },
  dispatch(aws) {
    const [good, failing] = [addDelivery(aws), addDelivery(aws)];
    return { good: good.message, failing: failing.message, orgId: failing.message.webhookId };
  },
  meter(aws) {
    const [good, failing] = [aBusEvent(aws.addTenant()), aBusEvent(aws.addTenant())];
    return { good: busMessage(good), failing: busMessage(failing), orgId: failing.orgId };
  },
  notify(aws) {
    const [good, failing] = [addDisabling(aws), addDisabling(aws)];
    aws.answers.ListUsers = () => ({ Users: [] });
    return { good: { detail: good }, failing: { detail: failing }, orgId: failing.orgId };
  },
  redeliver(aws) {
    const [good, failing] = [addJob(aws), addJob(aws)];
    return { good: good.message, failing: failing.message, orgId: failing.job.orgId };
  },
};
/** Workers that drop and count what no retry could read: it does not reach their dead-letter queue. */
const DROPS_UNREADABLE = new Set(['dead-delivery-messages', 'dispatch']);

describe.each(Object.entries(BATCHES))('batch of the queue of worker %s', (worker, build) => {
  it('leaves exactly the failed message in the queue, and counts unreadable ones', async () => {
    const aws = awsServices();
    const output = capturedOutput();
    const { good, failing, orgId } = build(aws);
    aws.throttles = ({ operation, input }) =>
      operation !== 'BatchGetItem' && JSON.stringify(input).includes(orgId);
    const batch = received(worker === 'dispatch' ? 'fresh' : worker, good, failing, 'no message', { id: 1 });

    const drops = DROPS_UNREADABLE.has(worker);
    expect(await invoke(worker, batch)).toEqual(
      drops ? REPEATED('message-2') : REPEATED('message-2', 'message-3', 'message-4'),
    );
    expect(output.metric(UNREADABLE_MESSAGES)).toBe(2);
    if (worker in LEFT_IN_QUEUE)
      expect(output.metric(LEFT_IN_QUEUE[worker as keyof typeof LEFT_IN_QUEUE])).toBe(1);
  });
});

const READERS = [
  { worker: 'fan-out', fails: 'PutItem', letters: 'dead-fan-outs', effects: 2 },
  { worker: 'publish', fails: 'PutEvents', letters: 'dead-publications', effects: 1 },
];

describe.each(READERS)('failing records of the outbox in $worker', ({ worker, fails, letters, effects }) => {
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
      Failed: queueOf(String(QueueUrl)) === letters ? (Entries as Row[]).map(({ Id }) => ({ Id })) : [],
    });

    expect(await invoke(worker, records(...rows))).toEqual(REPEATED(109));
  });

  it('are handed over also when all fail, so that later records never wait', async () => {
    const { aws, rows } = addRecords();
    aws.throttles = ({ operation }) => operation === fails;

    expect(await invoke(worker, records(...rows))).toEqual(DONE);
    expect(aws.sent().filter(({ queue }) => queue === letters)).toHaveLength(rows.length);
  });
});

describe.each(['audit-ledger', 'reconcile', 'resume-redelivery-jobs', 'schedule-source-checks'])(
  'scheduled worker %s',
  (worker) => {
    it('begins no page without enough time', async () => {
      const aws = awsServices();
      capturedOutput();

      expect(await invoke(worker, {}, WITHOUT_TIME)).toMatchObject({ complete: false });
      expect(aws.inputs('Query')).toEqual([]);
    });

    it('logs no result and measures nothing when nothing is due', async () => {
      awsServices();
      const output = capturedOutput();

      expect(await invoke(worker, {})).toMatchObject({ complete: true });
      if (worker !== 'audit-ledger') expect(output.logged('INFO')).toEqual([]);
      for (const metric of [RECONCILED.expired, REDELIVERIES_RESUMED, SWEPT.latestSeconds, LEDGER_DIFFERENCE])
        expect(output.metric(metric)).toBeUndefined();
    });
  },
);
