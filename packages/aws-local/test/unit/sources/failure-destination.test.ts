import { expect, it } from 'vitest';
import { failureMessage } from '../../../src/sources/failure-destination.ts';
import { aStreamRecord } from './stream-records.ts';

const discarded = {
  records: [aStreamRecord(7, 'a', 1_573_690_399), aStreamRecord(9, 'b', 1_573_690_400)],
  condition: 'RetryAttemptsExhausted',
  invocations: 3,
  result: { payload: { errorType: 'Error' }, functionError: 'Unhandled' },
  functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:F',
  streamArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/T/stream/1',
  shardId: 'shardId-1',
} as const;

it("a failure destination gets Lambda's message about records given up", () => {
  expect(failureMessage(discarded, new Date('2019-11-14T00:13:49.717Z'))).toEqual({
    requestContext: {
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      functionArn: discarded.functionArn,
      condition: 'RetryAttemptsExhausted',
      approximateInvokeCount: 3,
    },
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    version: '1.0',
    timestamp: '2019-11-14T00:13:49.717Z',
    DDBStreamBatchInfo: {
      shardId: 'shardId-1',
      startSequenceNumber: '7',
      endSequenceNumber: '9',
      approximateArrivalOfFirstRecord: '2019-11-14T00:13:19Z',
      approximateArrivalOfLastRecord: '2019-11-14T00:13:20Z',
      batchSize: 2,
      streamArn: discarded.streamArn,
    },
  });
});

it('a failure destination gets no response part when the function was not invoked', () => {
  const { result: _, ...unasked } = { ...discarded, condition: 'RecordAgeExceeded' as const, invocations: 0 };
  expect(failureMessage(unasked, new Date(0))).not.toHaveProperty('responseContext');
});
