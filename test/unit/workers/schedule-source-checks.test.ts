import 'aws-sdk-client-mock-vitest/extend';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { SWEPT } from '../../../functions/aws/metrics.ts';
import { keys, SOURCE_DUE_SHARDS } from '../../../functions/tenancy/keys.ts';
import { handler } from '../../../functions/workers/schedule-source-checks.ts';
import { aSource, later, seconds } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';
import { capturedOutput, WITH_TIME, WITHOUT_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const sqs = mockClient(SQSClient);

beforeEach(() => {
  dynamo.reset();
  sqs.reset();
  dynamo.on(QueryCommand).resolves({ Items: [] });
  dynamo.on(UpdateCommand).resolves({});
  sqs.on(SendMessageBatchCommand).resolves({});
});

describe('source check scheduler function', () => {
  it('sends a message for each due source, updates the index, and reports the delay', async () => {
    const output = capturedOutput();
    const source = aSource();
    const dueIn = keys.dueSourcesOf(source.id);
    const dueAt = later(new Date(), -seconds(90)).toISOString();
    dynamo
      .on(QueryCommand, { ExpressionAttributeValues: { ':v0': dueIn } }, false)
      .resolves({ Items: [{ ...keys.source(source, source.id), ...source, dueIn, dueAt }] });

    expect(await handler({}, WITH_TIME)).toMatchObject({ sent: 1, left: 0, complete: true });

    expect(sqs).toHaveReceivedCommandExactlyOnceWith(SendMessageBatchCommand, {
      QueueUrl: FUNCTION_ENVIRONMENT.CHECKS_QUEUE,
    });
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(UpdateCommand, {
      TableName: FUNCTION_ENVIRONMENT.KNOWLEDGE_TABLE,
      Key: keys.source(source, source.id),
    });
    expect(output.metric(SWEPT.sent)).toBe(1);
    expect(output.metric(SWEPT.latestSeconds)).toBeGreaterThanOrEqual(90);
    expect(output.logged('INFO')).toHaveLength(1);
  });

  it('reads each shard once when nothing is due, and logs nothing', async () => {
    const output = capturedOutput();

    expect(await handler({}, WITH_TIME)).toMatchObject({ sent: 0, complete: true });

    expect(dynamo).toHaveReceivedCommandTimes(QueryCommand, SOURCE_DUE_SHARDS);
    expect(sqs).not.toHaveReceivedCommand(SendMessageBatchCommand);
    expect(output.logged('INFO')).toEqual([]);
    expect(output.metric(SWEPT.latestSeconds)).toBeUndefined();
  });

  it('begins no page without enough time', async () => {
    capturedOutput();

    expect(await handler({}, WITHOUT_TIME)).toMatchObject({ complete: false });
    expect(dynamo).not.toHaveReceivedCommand(QueryCommand);
  });
});
