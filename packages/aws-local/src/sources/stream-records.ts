import type { _Record } from '@aws-sdk/client-dynamodb-streams';
import { REGION } from '../arns.ts';

/** A DynamoDB stream record in a function's event. Attribute values are DynamoDB JSON, binary ones base64. */
export interface StreamRecord {
  eventID: string;
  eventName: string;
  eventVersion: string;
  eventSource: 'aws:dynamodb';
  awsRegion: string;
  eventSourceARN: string;
  dynamodb: {
    ApproximateCreationDateTime: number;
    SequenceNumber: string;
    Keys?: Record<string, unknown>;
    NewImage?: Record<string, unknown>;
    OldImage?: Record<string, unknown>;
    SizeBytes?: number;
    StreamViewType?: string;
  };
  userIdentity?: { principalId?: string; type?: string };
}

/** DynamoDB's sequence numbers have 21 to 40 digits; the embedded engine counts from 1. */
export const SEQUENCE_DIGITS = 21;

/** Converts a record of `GetRecords`. */
export function toStreamRecord(record: _Record, streamArn: string): StreamRecord {
  const { Keys, NewImage, OldImage, SizeBytes, StreamViewType } = record.dynamodb ?? {};
  const images = { Keys, NewImage, OldImage };
  return {
    eventID: record.eventID ?? '',
    eventName: record.eventName ?? '',
    eventVersion: record.eventVersion ?? '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: REGION,
    eventSourceARN: streamArn,
    dynamodb: {
      ApproximateCreationDateTime: Math.floor(
        Number(record.dynamodb?.ApproximateCreationDateTime ?? 0) / 1000,
      ),
      SequenceNumber: (record.dynamodb?.SequenceNumber ?? '').padStart(SEQUENCE_DIGITS, '0'),
      ...Object.fromEntries(
        Object.entries(images).flatMap(([name, image]) => (image ? [[name, plain(image)]] : [])),
      ),
      ...(SizeBytes === undefined ? {} : { SizeBytes }),
      ...(StreamViewType === undefined ? {} : { StreamViewType }),
    },
    ...(record.userIdentity ? { userIdentity: userIdentity(record.userIdentity) } : {}),
  };
}

/** Lambda has these two names in lower case, the streams API in upper case. */
function userIdentity(identity: NonNullable<_Record['userIdentity']>): {
  principalId?: string;
  type?: string;
} {
  return { principalId: identity.PrincipalId, type: identity.Type };
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

/** Primary key of the changed item as text. */
export function itemKeyOf(record: StreamRecord): string {
  const keys = Object.entries(record.dynamodb.Keys ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(keys);
}

/** Records of one item stay together and in order. */
export function intoLanes(records: readonly StreamRecord[], lanes: number): StreamRecord[][] {
  if (lanes <= 1) return records.length > 0 ? [[...records]] : [];
  const dealt: StreamRecord[][] = Array.from({ length: lanes }, () => []);
  for (const record of records) dealt[hash(itemKeyOf(record)) % lanes]?.push(record);
  return dealt.filter((lane) => lane.length > 0);
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  return value;
}
