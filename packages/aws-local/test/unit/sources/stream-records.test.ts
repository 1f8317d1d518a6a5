import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { intoLanes, toStreamRecord } from '../../../src/sources/stream-records.ts';
import { aStreamRecord, numbersOf } from './stream-records.ts';

const ARN = 'arn:aws:dynamodb:us-east-1:000000000000:table/T/stream/1';

describe('a record of a stream', () => {
  it("has the shape of Lambda's record", () => {
    const record = toStreamRecord(
      {
        eventID: '7',
        eventName: 'REMOVE',
        eventVersion: '1.1',
        awsRegion: 'elsewhere',
        dynamodb: {
          ApproximateCreationDateTime: new Date(1_800_000_000_900),
          SequenceNumber: '7',
          Keys: { pk: { S: 'a' } },
          OldImage: {
            pk: { S: 'a' },
            raw: { B: new Uint8Array([0, 255]) },
            list: { L: [{ B: new Uint8Array([1]) }] },
          },
          StreamViewType: 'NEW_AND_OLD_IMAGES',
          SizeBytes: 12,
        },
        userIdentity: { PrincipalId: 'dynamodb.amazonaws.com', Type: 'Service' },
      },
      ARN,
    );
    expect(record).toEqual({
      eventID: '7',
      eventName: 'REMOVE',
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: 'us-east-1',
      eventSourceARN: ARN,
      dynamodb: {
        ApproximateCreationDateTime: 1_800_000_000,
        SequenceNumber: '7'.padStart(21, '0'),
        Keys: { pk: { S: 'a' } },
        OldImage: { pk: { S: 'a' }, raw: { B: 'AP8=' }, list: { L: [{ B: 'AQ==' }] } },
        SizeBytes: 12,
        StreamViewType: 'NEW_AND_OLD_IMAGES',
      },
      userIdentity: { principalId: 'dynamodb.amazonaws.com', type: 'Service' },
    });
  });
});

describe('lanes', () => {
  it('contain every record once, and all of an item in one lane and in order', () => {
    const keys = fc.array(fc.string(), { maxLength: 50 });
    fc.assert(
      fc.property(keys, fc.integer({ min: 1, max: 10 }), (items, count) => {
        const lanes = intoLanes(
          items.map((item, index) => aStreamRecord(index, item)),
          count,
        );
        expect(lanes.length).toBeLessThanOrEqual(count);
        expect(lanes.flat()).toHaveLength(items.length);
        for (const lane of lanes) expect(numbersOf(lane)).toEqual(numbersOf(lane).toSorted((a, b) => a - b));
        const lanesOf = (item: string) =>
          lanes.filter((lane) =>
            lane.some(({ dynamodb }) => items[Number(dynamodb.SequenceNumber)] === item),
          );
        for (const item of items) expect(lanesOf(item)).toHaveLength(1);
      }),
    );
  });
});
