import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileFilters } from '../../../src/sources/filter.ts';
import { doneMessages, passesFilter, toQueueRecord } from '../../../src/sources/queue-records.ts';
import { intoLanes, toStreamRecord } from '../../../src/sources/stream-records.ts';
import { aStreamRecord, numbersOf } from './stream-records.ts';

const ARN = 'arn:aws:sqs:us-east-1:000000000000:Q';
const aRecord = (messageId: string, body = '{}') =>
  toQueueRecord({ MessageId: messageId, ReceiptHandle: `r-${messageId}`, Body: body }, ARN);
const failing = (...items: unknown[]) => ({
  payload: { batchItemFailures: items.map((itemIdentifier) => ({ itemIdentifier })) },
});

describe('a message of a queue', () => {
  it("has the shape of Lambda's record", () => {
    const record = toQueueRecord(
      {
        MessageId: 'm',
        ReceiptHandle: 'r',
        Body: 'text',
        MD5OfBody: 'd41d8',
        Attributes: { ApproximateReceiveCount: '2' },
        MessageAttributes: {
          kind: { DataType: 'String', StringValue: 'x' },
          raw: { DataType: 'Binary', BinaryValue: new Uint8Array([0, 255]) },
        },
      },
      ARN,
    );
    expect(record).toEqual({
      messageId: 'm',
      receiptHandle: 'r',
      body: 'text',
      attributes: { ApproximateReceiveCount: '2' },
      messageAttributes: {
        kind: { dataType: 'String', stringValue: 'x', stringListValues: [], binaryListValues: [] },
        raw: { dataType: 'Binary', binaryValue: 'AP8=', stringListValues: [], binaryListValues: [] },
      },
      md5OfBody: 'd41d8',
      eventSource: 'aws:sqs',
      eventSourceARN: ARN,
      awsRegion: 'us-east-1',
    });
  });

  it('is filtered by its parsed body', () => {
    const passes = compileFilters(['{"body":{"kind":["wanted"]}}']);
    expect(passesFilter(aRecord('1', '{"kind":"wanted"}'), passes)).toBe(true);
    expect(passesFilter(aRecord('2', 'not JSON'), passes)).toBe(false);
  });
});

describe('the processed messages of a batch', () => {
  const batch = ['1', '2', '3'].map((id) => aRecord(id));
  const error = { payload: null, functionError: 'Unhandled' } as const;

  it.each([
    ['all after a success', failing(), true, ['1', '2', '3']],
    ['all but those that failed', failing('2'), true, ['1', '3']],
    ['none after an error of the function', error, true, []],
    ['none when an identifier is not of the batch', failing('2', 'x'), true, []],
    ['none when an identifier is missing', failing(undefined), true, []],
    ['all where the mapping takes no partial answers', failing('2'), false, ['1', '2', '3']],
    ['all for an answer of another shape', { payload: undefined }, true, ['1', '2', '3']],
  ])('are %s', (_, result, reports, expected) => {
    expect(doneMessages(batch, result, reports).map(({ messageId }) => messageId)).toEqual(expected);
  });
});

const STREAM_ARN = 'arn:aws:dynamodb:us-east-1:000000000000:table/T/stream/1';

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
      STREAM_ARN,
    );
    expect(record).toEqual({
      eventID: '7',
      eventName: 'REMOVE',
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: 'us-east-1',
      eventSourceARN: STREAM_ARN,
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
