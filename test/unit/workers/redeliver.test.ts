import { buildRound, type RedeliveryJob } from '../../../functions/redelivery/jobs.ts';
import 'aws-sdk-client-mock-vitest/extend';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import {
  BatchGetCommand,
  type BatchGetCommandInput,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { REDELIVER_ROUND_SECONDS } from '../../../functions/delivery/timing.ts';
import { handler } from '../../../functions/workers/redeliver.ts';
import { aDelivery, anEndpoint, aRedeliveryJob, later, NOW, seconds } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb, rowAfter } from '../../support/mocked-dynamodb.ts';
import { busMessage, capturedOutput, liveOrganizations, received, refused, WITH_TIME } from './a-worker.ts';

// The function reads the clock, and resends no event that is older than 30 days.
beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const dynamo = mockedDynamoDb();
const sqs = mockClient(SQSClient);
const endpoint = anEndpoint();
const job = aRedeliveryJob({ orgId: endpoint.orgId, webhookId: newId('whk', NOW) });
const run = (of: RedeliveryJob = job) =>
  handler(received('redeliver', busMessage(buildRound(of, of.round + 1, NOW))), WITH_TIME);
const bodiesTo = (QueueUrl: string) =>
  sqs
    .commandCalls(SendMessageBatchCommand, { QueueUrl })
    .flatMap(({ args: [{ input }] }) => input.Entries ?? [])
    .map(({ MessageBody }) => JSON.parse(String(MessageBody)));

/** Failed deliveries, in the first shard that is read. */
const failed = (count: number) =>
  Array.from({ length: count }, () =>
    aDelivery({
      webhookId: job.webhookId,
      eventId: newId('evt', later(NOW, -seconds(60))),
      status: 'exhausted',
    }),
  );

/** The transactions that add a delivery. */
const additions = () =>
  dynamo.commandCalls(TransactWriteCommand).flatMap(({ args: [{ input }] }) => {
    const Put = input.TransactItems?.[0]?.Put;
    return Put === undefined ? [] : [{ ...input, Put }];
  });
const added = () => additions().flatMap(({ Put }) => Put.Item ?? []);

/** Reads the deliveries that were added, as they are after a successful attempt. */
function readAttempted({ RequestItems }: BatchGetCommandInput) {
  const name = FUNCTION_ENVIRONMENT.DELIVERIES_TABLE;
  const wanted = new Set(RequestItems?.[name]?.Keys?.map(({ sk }) => sk));
  const failures = added()
    .filter(({ sk }) => wanted.has(sk))
    .map((item) => ({ ...item, status: 'succeeded' }));
  return { Responses: { [name]: failures } };
}

beforeEach(() => {
  dynamo.reset();
  sqs.reset();
  dynamo.on(GetCommand).callsFake((input) => ({
    Item:
      input.Key.sk === job.webhookId
        ? { ...endpoint, id: job.webhookId }
        : input.Key.sk === job.id
          ? job
          : liveOrganizations(input).Item,
  }));
  dynamo.on(UpdateCommand).resolves({ Attributes: job });
  dynamo.on(QueryCommand).resolves({ Items: [] });
  dynamo.on(BatchGetCommand).callsFake(readAttempted);
  dynamo.on(TransactWriteCommand).resolves({});
  sqs.on(SendMessageBatchCommand).resolves({});
});

describe('redelivery job function', () => {
  it('adds a delivery for each failed one, sends its message, and ends the job', async () => {
    capturedOutput();
    const failures = failed(12);
    dynamo.on(QueryCommand).resolvesOnce({ Items: failures }).resolves({ Items: [] });

    expect(await run()).toEqual({ batchItemFailures: [] });

    expect(
      added()
        .map(({ redeliveryOf }) => redeliveryOf)
        .toSorted(),
    ).toEqual(failures.map(({ id }) => id).toSorted());
    // Each with the record of its event.
    for (const { TransactItems } of additions())
      expect(TransactItems).toMatchObject([
        {
          Put: {
            TableName: FUNCTION_ENVIRONMENT.DELIVERIES_TABLE,
            ConditionExpression: 'attribute_not_exists(pk)',
          },
        },
        { Update: { TableName: FUNCTION_ENVIRONMENT.SERVICE_TABLE } },
      ]);
    expect(
      bodiesTo(FUNCTION_ENVIRONMENT.SLOW_QUEUE)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(
      added()
        .map(({ id }) => id)
        .toSorted(),
    );
    // And the end of the job.
    expect(dynamo).toHaveReceivedCommandTimes(TransactWriteCommand, failures.length + 1);
    expect(bodiesTo(FUNCTION_ENVIRONMENT.REDELIVERIES_QUEUE)).toEqual([]);
  });

  it('adds none for an event that has arrived since', async () => {
    capturedOutput();
    const [arrived, missing] = failed(2);
    if (arrived === undefined || missing === undefined) throw new Error('there were to be two');
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: [arrived, missing] })
      .resolves({ Items: [] });
    const id = newId('dlv', NOW);
    const { eventId, webhookId } = arrived;
    const records = {
      [FUNCTION_ENVIRONMENT.SERVICE_TABLE]: [{ eventId, webhookId, deliveryId: id, succeededId: id }],
    };
    dynamo
      .on(BatchGetCommand)
      .callsFake((input) => ({ Responses: { ...readAttempted(input).Responses, ...records } }));

    expect(await run()).toEqual({ batchItemFailures: [] });

    expect(added().map(({ redeliveryOf }) => redeliveryOf)).toEqual([missing.id]);
  });

  it('sends the next round of a long job to its own queue, as the bus would', async () => {
    capturedOutput();
    const failures = failed(3);
    const end = { pk: 'a', sk: failures.map(({ id }) => id).toSorted()[2] };
    // Rows so large that the page ends with them.
    const ConsumedCapacity = { CapacityUnits: 100 };
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: failures, LastEvaluatedKey: end, ConsumedCapacity })
      .resolves({ Items: [] });
    // The first page takes as long as a round may.
    dynamo.on(UpdateCommand).callsFake((input) => {
      if (!('place' in rowAfter(input))) return { Attributes: job };
      vi.setSystemTime(later(NOW, seconds(REDELIVER_ROUND_SECONDS)));
      return { Attributes: { ...job, redelivered: 3, round: 1 } };
    });

    expect(await run()).toEqual({ batchItemFailures: [] });

    expect(bodiesTo(FUNCTION_ENVIRONMENT.REDELIVERIES_QUEUE)).toMatchObject([
      { detail: { id: `${job.id}#round#2`, data: { redeliveryId: job.id, round: 2 } } },
    ]);
    // The job has not ended.
    expect(dynamo).toHaveReceivedCommandTimes(TransactWriteCommand, failures.length);
  });

  it('repeats its message when a queue refuses a part', async () => {
    capturedOutput();
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: failed(1) })
      .resolves({ Items: [] });
    const Failed = [{ Id: '0', Code: 'InternalError', SenderFault: false }];
    sqs.on(SendMessageBatchCommand).resolves({ Failed, Successful: [] });
    expect((await run())?.batchItemFailures).toHaveLength(1);
    expect(dynamo).toHaveReceivedCommandTimes(TransactWriteCommand, 1);
  });

  it('repeats its message while another worker has the lease, and drops that of an ended job', async () => {
    capturedOutput();
    const lease = { token: 'another', until: Number.MAX_SAFE_INTEGER };
    dynamo.on(UpdateCommand).rejects(refused({ ...job, lease }));
    expect((await run())?.batchItemFailures).toHaveLength(1);
    dynamo.on(UpdateCommand).rejects(refused({ ...job, status: 'done' }));
    expect(await run()).toEqual({ batchItemFailures: [] });
    expect(dynamo).not.toHaveReceivedCommand(QueryCommand);
  });
});
