import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import { REGION } from '../arns.ts';
import type { InvocationResult } from '../functions/sandbox.ts';
import { failedItems } from './batch.ts';
import type { Filter } from './filter.ts';

/** A queue's message in a function's event. */
export interface QueueRecord {
  messageId: string;
  receiptHandle: string;
  body: string;
  attributes: Record<string, string>;
  messageAttributes: Record<string, QueueMessageAttribute>;
  md5OfBody: string;
  eventSource: 'aws:sqs';
  eventSourceARN: string;
  awsRegion: string;
}

export interface QueueMessageAttribute {
  dataType: string;
  stringValue?: string;
  binaryValue?: string;
  stringListValues: string[];
  binaryListValues: string[];
}

/** Converts a message of `ReceiveMessage`. */
export function toQueueRecord(message: Message, queueArn: string): QueueRecord {
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: message.Attributes ?? {},
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, toAttribute(value)]),
    ),
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: REGION,
  };
}

function toAttribute({ DataType, StringValue, BinaryValue }: MessageAttributeValue): QueueMessageAttribute {
  return {
    dataType: DataType ?? 'String',
    ...(StringValue === undefined ? {} : { stringValue: StringValue }),
    ...(BinaryValue === undefined ? {} : { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
    stringListValues: [],
    binaryListValues: [],
  };
}

/** Applies a filter as Lambda does: to the message with its body parsed, if that is JSON. */
export function passesFilter(record: QueueRecord, passes: Filter): boolean {
  return passes({ ...record, body: parsedOrText(record.body) });
}

function parsedOrText(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/**
 * Messages to delete after an invocation; the others become visible again. An unknown identifier fails the
 * whole batch.
 */
export function doneMessages(
  records: readonly QueueRecord[],
  result: InvocationResult,
  reportsItemFailures: boolean,
): readonly QueueRecord[] {
  if (result.functionError) return [];
  if (!reportsItemFailures) return records;
  const failed = new Set(failedItems(result.payload));
  const kept = records.filter(({ messageId }) => failed.has(messageId));
  return kept.length === failed.size ? records.filter((record) => !kept.includes(record)) : [];
}
