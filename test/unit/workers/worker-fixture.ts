import { CognitoIdentityProviderClient } from '@aws-sdk/client-cognito-identity-provider';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SESv2Client } from '@aws-sdk/client-sesv2';
import { SQSClient } from '@aws-sdk/client-sqs';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { AttributeValue, Context, DynamoDBRecord, SQSEvent } from 'aws-lambda';
import { onTestFinished, vi } from 'vitest';
import { BUS_SOURCE, type BusEvent } from '../../../functions/events/bus.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { aKeyring, anOrganization, aTenant } from '../../builders.ts';
import type { Row } from '../../doubles/tables/expressions.ts';
import { MemoryTables } from '../../doubles/tables/memory-tables.ts';
import { INVOCATION } from '../../support/functions.ts';
import { TABLE_DEFINITIONS, type TableName } from '../../table-definitions.ts';

/** An invocation of a worker, with time for its work. */
export const WITH_TIME: Context = { ...INVOCATION, getRemainingTimeInMillis: () => 55_000 };
/** An invocation whose time is nearly up. */
export const WITHOUT_TIME: Context = { ...INVOCATION, getRemainingTimeInMillis: () => 9_000 };

const imageOf = (row: Row) =>
  // The types of Lambda's events and of the SDK name the same shape differently.
  marshall(row, { removeUndefinedValues: true }) as Record<string, AttributeValue>;

/** A record of a table's stream that shows a row. */
export const aRecord = (
  row: Row,
  sequence: string | number,
  eventName: 'INSERT' | 'MODIFY' = 'INSERT',
): DynamoDBRecord => ({
  eventName,
  dynamodb: { SequenceNumber: String(sequence), NewImage: imageOf(row) },
});

/** Messages that were received from a queue. A string is used as the body unchanged. */
export const received = (queue: string, ...bodies: readonly unknown[]): SQSEvent => ({
  Records: bodies.map((body, index) => ({
    messageId: `message-${index + 1}`,
    receiptHandle: `receipt-${index + 1}`,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '0',
      SenderId: 'sender',
      ApproximateFirstReceiveTimestamp: '0',
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:${queue}`,
    awsRegion: 'us-east-1',
  })),
});

/** The message that a rule of the bus sends to a queue. */
export const busMessage = (event: BusEvent) => ({
  version: '0',
  id: 'an-envelope',
  'detail-type': event.type,
  source: BUS_SOURCE,
  account: '000000000000',
  time: event.createdAt,
  region: 'us-east-1',
  resources: [],
  detail: event,
});

/** Captures what the workers print until the end of the test: log lines and metrics, each a line of JSON. */
export function capturedOutput() {
  const lines: Row[] = [];
  const capture = (text: string | Uint8Array): boolean => {
    for (const line of String(text).split('\n')) if (line.startsWith('{')) lines.push(JSON.parse(line));
    return true;
  };
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(capture),
  );
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return {
    /** The messages that were logged at a level. */
    logged: (level: 'INFO' | 'WARN' | 'ERROR') =>
      lines.filter((line) => line.level === level).map(({ message }) => message),
    /** The sum of a metric; undefined when it was never written. */
    metric(name: string): number | undefined {
      const values = lines.flatMap((line) => ('_aws' in line && name in line ? [Number(line[name])] : []));
      return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
    },
    lines,
  };
}

/** A request of a function to AWS. */
interface Call {
  /** Such as `PutItem` or `SendMessageBatch`. */
  operation: string;
  input: Row;
}

const CLIENTS = [
  CognitoIdentityProviderClient,
  DynamoDBClient,
  DynamoDBStreamsClient,
  EventBridgeClient,
  LambdaClient,
  SecretsManagerClient,
  SESv2Client,
  SQSClient,
];

const toList = (value: unknown): Row[] => (Array.isArray(value) ? value : []);

/**
 * The AWS services that functions call until the end of the test: tables in memory, queues and a bus that
 * keep what they take, and services with one answer each. A test can replace the answer to an operation in
 * `answers`.
 */
export function awsServices() {
  const tables = new MemoryTables(TABLE_DEFINITIONS, { nowMs: () => Date.now() });
  const calls: Call[] = [];
  const answers: Record<string, (input: Row) => unknown> = {
    SendMessageBatch: () => ({}),
    ChangeMessageVisibility: () => ({}),
    GetQueueAttributes: () => ({
      Attributes: { ApproximateNumberOfMessages: '0', ApproximateNumberOfMessagesNotVisible: '0' },
    }),
    PutEvents: ({ Entries }) => ({ Entries: toList(Entries).map(() => ({ EventId: 'taken' })) }),
    GetSecretValue: () => ({ SecretString: JSON.stringify(aKeyring()) }),
    GetShardIterator: () => ({ ShardIterator: 'iterator' }),
    SendEmail: () => ({ MessageId: 'message-1' }),
  };
  const services = {
    tables,
    calls,
    answers,
    /** Chooses the calls that are throttled, before they take effect. */
    throttles: (_call: Call): boolean => false,

    /** Stores an organization. @returns its tenant */
    addTenant(changes: Partial<Tenant> = {}, { isSandbox = false } = {}): Tenant {
      const tenant = aTenant({ generation: isSandbox ? 1 : 0, ...changes });
      const environment = isSandbox ? 'sandbox' : 'live';
      const organization = anOrganization({
        id: tenant.orgId,
        environment,
        tier: isSandbox ? 'sandbox' : 'standard',
      });
      tables.put('service', { ...keys.organization(tenant.orgId), ...organization, ...tenant });
      return tenant;
    },

    /** Makes the stream return these rows as inserts, numbered from 1. */
    stream(...rows: Row[]): void {
      const Records = rows.map((row, index) => aRecord(row, index + 1));
      answers.GetRecords = () => ({ Records });
    },

    /** The calls of an operation. */
    inputs: (operation: string): Row[] =>
      calls.filter((call) => call.operation === operation).map(({ input }) => input),

    /** The entries that were sent to queues, with the last path segment of their queue's URL. */
    sent: (): Row[] =>
      services.inputs('SendMessageBatch').flatMap(({ QueueUrl, Entries }) =>
        toList(Entries).map(({ MessageBody, ...entry }) => ({
          ...entry,
          queue: String(QueueUrl).split('/').at(-1),
          body: JSON.parse(String(MessageBody)),
        })),
      ),

    /** The ids of the events that were put on the bus. */
    published: (): string[] =>
      services
        .inputs('PutEvents')
        .flatMap(({ Entries }) => toList(Entries).map(({ Detail }) => JSON.parse(String(Detail)).id)),

    get: (table: TableName, key: object): Row | undefined => tables.get(table, { ...key }),

    /** All rows of a table. */
    rows: (table: TableName): Row[] => tables.all(table),
  };

  const memory = tables.client();
  const spies = CLIENTS.map((Client) =>
    vi
      .spyOn(Client.prototype as { send(command: object): unknown }, 'send')
      .mockImplementation(async (command: object) => {
        const { input } = command as { input: Row };
        const call = { operation: command.constructor.name.replace(/Command$/, ''), input };
        calls.push(call);
        if (services.throttles(call))
          throw Object.assign(new Error('it throttles'), { name: 'ThrottlingException' });
        const answer = answers[call.operation];
        if (answer !== undefined) return answer(input);
        if (Client === DynamoDBClient) return memory.send(command as Parameters<typeof memory.send>[0]);
        throw new Error(`no answer to ${call.operation}`);
      }),
  );
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return services;
}
