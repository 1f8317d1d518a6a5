import type { StreamRecord } from '../../../src/sources/stream-records.ts';

/** An insertion of the item with this key. */
export function aStreamRecord(
  sequenceNumber: number | string,
  key = 'a',
  createdAt = 1_800_000_000,
): StreamRecord {
  return {
    eventID: String(sequenceNumber),
    eventName: 'INSERT',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'us-east-1',
    eventSourceARN: 'arn:aws:dynamodb:us-east-1:000000000000:table/T/stream/1',
    dynamodb: {
      ApproximateCreationDateTime: createdAt,
      SequenceNumber: String(sequenceNumber),
      Keys: { pk: { S: key } },
    },
  };
}

export const records = (...numbers: number[]): StreamRecord[] =>
  numbers.map((number) => aStreamRecord(number));

export const numbersOf = (given: readonly StreamRecord[]): number[] =>
  given.map(({ dynamodb }) => Number(dynamodb.SequenceNumber));
