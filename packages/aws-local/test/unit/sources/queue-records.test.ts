import { describe, expect, it } from 'vitest';
import { compileFilters } from '../../../src/sources/filter.ts';
import { doneMessages, passesFilter, toQueueRecord } from '../../../src/sources/queue-records.ts';

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
