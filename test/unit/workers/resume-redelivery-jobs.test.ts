import { type RedeliveryJob, toRedeliveryRun } from '../../../functions/redelivery/jobs.ts';
import 'aws-sdk-client-mock-vitest/extend';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DeleteCommand, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { REDELIVERIES_RESUMED } from '../../../functions/aws/metrics.ts';
import { keys, REDELIVERY_RUN_SHARDS } from '../../../functions/tenancy/keys.ts';
import { handler } from '../../../functions/workers/resume-redelivery-jobs.ts';
import { aRedeliveryJob } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';
import { capturedOutput, liveOrganizations, WITH_TIME, WITHOUT_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const sqs = mockClient(SQSClient);

/** The rows of a running job. */
function running(changes: Partial<RedeliveryJob> = {}): RedeliveryJob {
  const job = aRedeliveryJob({ round: 3, ...changes });
  const key = keys.redeliveryRun(job);
  dynamo
    .on(QueryCommand, { ExpressionAttributeValues: { ':v0': key.pk } }, false)
    .resolves({ Items: [{ ...key, ...toRedeliveryRun(job) }] });
  dynamo
    .on(GetCommand)
    .callsFake((input) => (input.Key.sk === job.id ? { Item: job } : liveOrganizations(input)));
  return job;
}

beforeEach(() => {
  dynamo.reset();
  sqs.reset();
  dynamo.on(QueryCommand).resolves({ Items: [] });
  dynamo.on(UpdateCommand).resolves({});
  dynamo.on(DeleteCommand).resolves({});
  sqs.on(SendMessageBatchCommand).resolves({});
});

describe('function that resumes redelivery jobs', () => {
  it('sends the message of a job without a worker, records it, and counts such jobs', async () => {
    const output = capturedOutput();
    const job = running();

    expect(await handler({}, WITH_TIME)).toMatchObject({ sent: 1, left: 0, complete: true });

    const [call] = sqs.commandCalls(SendMessageBatchCommand);
    const { QueueUrl, Entries = [] } = call?.args[0].input ?? {};
    expect(QueueUrl).toBe(FUNCTION_ENVIRONMENT.REDELIVERIES_QUEUE);
    expect(Entries.map(({ MessageBody }) => JSON.parse(String(MessageBody)))).toMatchObject([
      { detail: { type: 'webhook.redelivery', data: { redeliveryId: job.id, round: 3 } } },
    ]);
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(UpdateCommand, {
      TableName: FUNCTION_ENVIRONMENT.SERVICE_TABLE,
      Key: keys.redeliveryRun(job),
    });
    expect(output.metric(REDELIVERIES_RESUMED)).toBe(1);
    expect(output.logged('INFO')).toHaveLength(1);
    expect(output.lines).toContainEqual(
      expect.objectContaining({ code: 'REDELIVERY_RESUMED', redeliveryId: job.id, round: 3 }),
    );
  });

  it('deletes the row of a job that has ended', async () => {
    capturedOutput();
    const job = running({ status: 'done' });
    expect(await handler({}, WITH_TIME)).toMatchObject({ sent: 0, removed: 1 });
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(DeleteCommand, { Key: keys.redeliveryRun(job) });
    expect(sqs).not.toHaveReceivedCommand(SendMessageBatchCommand);
  });

  it('reads each shard once when no job is due, and logs nothing', async () => {
    const output = capturedOutput();
    expect(await handler({}, WITH_TIME)).toMatchObject({ sent: 0, complete: true });
    expect(dynamo).toHaveReceivedCommandTimes(QueryCommand, REDELIVERY_RUN_SHARDS);
    expect(sqs).not.toHaveReceivedCommand(SendMessageBatchCommand);
    expect(output.logged('INFO')).toEqual([]);
    expect(output.metric(REDELIVERIES_RESUMED)).toBeUndefined();
  });

  it('begins no page without enough time', async () => {
    capturedOutput();
    expect(await handler({}, WITHOUT_TIME)).toMatchObject({ complete: false });
    expect(dynamo).not.toHaveReceivedCommand(QueryCommand);
  });
});
