import type { AttributeValue as SdkValue } from '@aws-sdk/client-dynamodb';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { AttributeValue, Context, DynamoDBRecord, SQSEvent } from 'aws-lambda';
import { onTestFinished, vi } from 'vitest';
import { BUS_SOURCE, type BusEvent } from '../../../functions/events/bus.ts';
import { INVOCATION } from '../../support/functions.ts';

type Row = Record<string, unknown>;

/** An invocation of a worker, with time for its work. */
export const WITH_TIME: Context = { ...INVOCATION, getRemainingTimeInMillis: () => 55_000 };
/** An invocation whose time is nearly up. */
export const WITHOUT_TIME: Context = { ...INVOCATION, getRemainingTimeInMillis: () => 9_000 };

/** A record of a table's stream that shows a row. */
export const aRecord = (
  row: Row,
  sequence: string | number,
  eventName: 'INSERT' | 'MODIFY' = 'INSERT',
): DynamoDBRecord => ({
  eventName,
  dynamodb: {
    SequenceNumber: String(sequence),
    // The types of Lambda's events and of the SDK name the same shape differently.
    NewImage: marshall(row, { removeUndefinedValues: true }) as Record<string, AttributeValue>,
  },
});

/** The image of a row in the SDK's type. */
export const imageOf = (row: Row): Record<string, SdkValue> => marshall(row, { removeUndefinedValues: true });

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

/** The error of DynamoDB for a write whose condition is not met. */
export const refused = (row?: Row): ConditionalCheckFailedException =>
  new ConditionalCheckFailedException({
    message: 'The conditional request failed',
    $metadata: {},
    ...(row === undefined ? {} : { Item: imageOf(row) }),
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

/** Answers `GetItem` with a live organization for each organization key, and with nothing for other keys. */
export const liveOrganizations = ({ Key }: { Key?: Record<string, unknown> | undefined }) =>
  Key?.sk === 'organization' ? { Item: { environment: 'live', tier: 'standard' } } : {};
