import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { THROTTLES } from '../../../functions/aws/metric-names.ts';
import { publishMetrics } from '../../../functions/aws/metrics.ts';
import { countThrottles, isThrottled, isThrottledInPart } from '../../../functions/aws/throttles.ts';

let printed: string[];

beforeEach(() => {
  printed = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
});
afterEach(() => vi.restoreAllMocks());

const answered = (statusCode: number, body: object) => () => ({
  response: {
    statusCode,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: Buffer.from(JSON.stringify(body)),
  },
});
const throttled = answered(400, { __type: 'ProvisionedThroughputExceededException', message: 'slow down' });
const fine = answered(200, {});

/** A client whose tries get these answers, one after the other. */
function clientOf(answers: (typeof fine)[], maxAttempts = 3) {
  return countThrottles(
    new DynamoDBClient({
      region: 'us-east-1',
      credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
      maxAttempts,
      requestHandler: { handle: async () => (answers.shift() ?? fine)() },
    }),
    'dynamodb',
  );
}

const read = new GetItemCommand({ TableName: 'table', Key: { pk: { S: 'x' } } });

async function counted(): Promise<unknown> {
  publishMetrics();
  return printed.map((line) => JSON.parse(line)[THROTTLES.dynamodb]);
}

describe('throttled calls', () => {
  it('are counted although the next try succeeds', async () => {
    await clientOf([throttled, fine], 2).send(read);
    expect(await counted()).toEqual([1]);
  });

  it('are counted when the last try fails too', async () => {
    await expect(clientOf([throttled], 1).send(read)).rejects.toThrow('slow down');
    expect(await counted()).toEqual([1]);
  });

  it('are zero when nothing was throttled', async () => {
    await clientOf([fine]).send(read);
    expect(await counted()).toEqual([]);
  });
});

describe('a call', () => {
  it.each([
    [{ name: 'ThrottlingException' }, true],
    [{ name: 'RequestThrottled' }, true],
    [
      {
        name: 'TransactionCanceledException',
        CancellationReasons: [{ Code: 'None' }, { Code: 'ThrottlingError' }],
      },
      true,
    ],
    [
      { name: 'TransactionCanceledException', CancellationReasons: [{ Code: 'ConditionalCheckFailed' }] },
      false,
    ],
    [{ name: 'AnyError', $metadata: { httpStatusCode: 429 } }, true],
    [{ name: 'AnyError', $retryable: { throttling: true } }, true],
    [{ name: 'ConditionalCheckFailedException', $metadata: { httpStatusCode: 400 } }, false],
    [undefined, false],
  ])('counts as throttled after %j: %s', (error, expected) => {
    expect(isThrottled(error)).toBe(expected);
  });

  it.each([
    [{ UnprocessedKeys: { table: { Keys: [] } } }, true],
    [{ UnprocessedItems: { table: [] } }, true],
    [{ UnprocessedKeys: {}, UnprocessedItems: {} }, false],
    [{ Failed: [{ Code: 'RequestThrottled' }] }, true],
    [{ Failed: [{ Code: 'InvalidParameterValue' }] }, false],
    [{ Entries: [{ EventId: 'x' }, { ErrorCode: 'ThrottlingException' }] }, true],
    [{ Entries: [{ ErrorCode: 'InternalFailure' }] }, false],
    [{}, false],
  ])('counts as throttled in part after %j: %s', (output, expected) => {
    expect(isThrottledInPart(output)).toBe(expected);
  });
});
