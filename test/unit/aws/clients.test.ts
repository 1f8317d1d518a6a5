import { globSync, readFileSync } from 'node:fs';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import {
  countThrottles,
  isThrottled,
  isThrottledInPart,
  reportUnreadable,
} from '../../../functions/aws/clients.ts';
import { publishMetrics, THROTTLES, UNREADABLE_ROWS } from '../../../functions/aws/metrics.ts';
import { capturedOutput } from '../workers/worker-fixture.ts';
import { printedMetrics } from './capturing-logger.ts';

const printed = printedMetrics();

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
  return printed.map((line) => {
    const { _aws, [THROTTLES]: all, ThrottlesDynamoDB: ofTables } = JSON.parse(line);
    expect(_aws.CloudWatchMetrics[0].Metrics).toEqual([{ Name: THROTTLES, Unit: 'Count' }]);
    expect(ofTables).toBe(all);
    return all;
  });
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

describe('a stored row that cannot be read', () => {
  it('is logged by its keys and counted for its alarm', async () => {
    const output = capturedOutput();
    reportUnreadable({ pk: 'org_x#webhooks', sk: 'whk_x', error: new Error('no') });
    publishMetrics();

    expect(output.lines[0]).toMatchObject({
      level: 'ERROR',
      code: 'ROW_UNREADABLE',
      pk: 'org_x#webhooks',
      sk: 'whk_x',
    });
    expect(output.metric(UNREADABLE_ROWS)).toBe(1);
  });

  it('is reported by every table of every function that is read through a client', () => {
    const silent = globSync('functions/{api,workers}/**/*.ts', {
      cwd: `${import.meta.dirname}/../../..`,
    }).flatMap((file) => {
      const text = readFileSync(`${import.meta.dirname}/../../../${file}`, 'utf8');
      const tables = text.match(/\{\s*client\b[^{}]*\bname: environment\.\w+_TABLE\b[^{}]*\}/g) ?? [];
      return tables
        .filter((table) => !table.includes('reportUnreadable'))
        .map((table) => `${file}: ${table}`);
    });
    expect(silent).toEqual([]);
  });
});
