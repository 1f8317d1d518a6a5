import 'aws-sdk-client-mock-vitest/extend';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { BatchGetCommand, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { DELIVERED, UNREADABLE_MESSAGES } from '../../../functions/aws/metrics.ts';
import { type Delivery, toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { handler } from '../../../functions/workers/dispatch.ts';
import { aDelivery, aKeyring, anEndpoint, anEvent, aTenant } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb, rowAfter } from '../../support/mocked-dynamodb.ts';
import { capturedOutput, liveOrganizations, received, refused, WITH_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const sqs = mockClient(SQSClient);
const secrets = mockClient(SecretsManagerClient);

const ENDED = { batchItemFailures: [] };
const STAYS = { batchItemFailures: [{ itemIdentifier: 'message-1' }] };
const FAR_OFF = '2100-01-01T00:00:00.000Z';

/**
 * A delivery with its endpoint and its event in the tables. The URL's address is forbidden, so no request is
 * sent.
 */
function held(changes: { endpoint?: Partial<Endpoint>; delivery?: Partial<Delivery>; event?: 'gone' } = {}) {
  const tenant = aTenant();
  const endpoint = anEndpoint({
    orgId: tenant.orgId,
    url: 'https://169.254.169.254/hook',
    ...changes.endpoint,
  });
  const event = anEvent({ tenant });
  const delivery = aDelivery({
    ...tenant,
    webhookId: endpoint.id,
    eventId: event.id,
    attempts: 1,
    ...changes.delivery,
  });
  dynamo.on(BatchGetCommand).resolves({
    Responses: {
      [FUNCTION_ENVIRONMENT.SERVICE_TABLE]: [{ ...keys.endpoint(tenant.orgId, endpoint.id), ...endpoint }],
      [FUNCTION_ENVIRONMENT.OUTBOX_TABLE]:
        changes.event === 'gone' ? [] : [{ ...keys.event(event, event.id), ...event }],
    },
  });
  dynamo.on(UpdateCommand).resolves({ Attributes: delivery });
  return { endpoint, event, delivery, message: toDeliveryMessage(delivery) };
}

const updates = () => dynamo.commandCalls(UpdateCommand).map(({ args: [{ input }] }) => input);
/** What each update makes of a row without attempts. */
const written = () => updates().map((update) => rowAfter(update, { attemptLog: [] }));

beforeEach(() => {
  dynamo.reset();
  sqs.reset();
  secrets.reset();
  dynamo.on(GetCommand).callsFake(liveOrganizations);
  // No host is blocked.
  dynamo.on(QueryCommand).resolves({ Items: [] });
  secrets.on(GetSecretValueCommand).resolves({ SecretString: JSON.stringify(aKeyring()) });
  sqs.on(SendMessageBatchCommand).resolves({});
  sqs.on(ChangeMessageVisibilityCommand).resolves({});
  sqs.on(GetQueueAttributesCommand).resolves({
    Attributes: { ApproximateNumberOfMessagesNotVisible: '0', ApproximateNumberOfMessages: '0' },
  });
});

describe('dispatcher function', () => {
  it('claims, attempts, settles, and sends the message to the retry queue with a delay', async () => {
    capturedOutput();
    const { message } = held();

    expect(await handler(received('fresh', message), WITH_TIME)).toEqual(ENDED);

    const [claimed, settled] = written();
    expect(claimed).toMatchObject({ attempts: 1 });
    expect(settled).toMatchObject({
      status: 'retrying',
      lastError: expect.stringMatching(/address|host/),
      dueIn: keys.dueOf('watched', message.id),
    });
    expect(sqs).toHaveReceivedCommandExactlyOnceWith(SendMessageBatchCommand, {
      QueueUrl: FUNCTION_ENVIRONMENT.RETRY_QUEUE,
      Entries: [
        {
          Id: '0',
          MessageBody: JSON.stringify(message),
          MessageGroupId: message.orgId,
          DelaySeconds: 30,
        },
      ],
    });
  });

  it('writes one line of metrics for a batch', async () => {
    const output = capturedOutput();
    const { message } = held();

    await handler(received('fresh', message), WITH_TIME);

    const written = output.lines.filter((line) => '_aws' in line);
    expect(written).toMatchObject([{ [DELIVERED.attempts]: 1, [DELIVERED.failedAttempts]: 1 }]);
  });

  it('hides a message of the retry queue instead of sending it', async () => {
    capturedOutput();
    const { message } = held();

    expect(await handler(received('retry', message), WITH_TIME)).toEqual(STAYS);

    expect(sqs).toHaveReceivedCommandExactlyOnceWith(ChangeMessageVisibilityCommand, {
      QueueUrl: FUNCTION_ENVIRONMENT.RETRY_QUEUE,
      ReceiptHandle: 'receipt-1',
      VisibilityTimeout: 30,
    });
    expect(sqs).not.toHaveReceivedCommand(SendMessageBatchCommand);
  });

  it('parks the delivery when the queue nears its limit of messages in flight', async () => {
    capturedOutput();
    sqs
      .on(GetQueueAttributesCommand, { QueueUrl: FUNCTION_ENVIRONMENT.SLOW_QUEUE })
      .resolves({ Attributes: { ApproximateNumberOfMessagesNotVisible: '60000' } });
    const { message } = held({ endpoint: { pace: { is: 'slow', until: FAR_OFF } } });

    expect(await handler(received('slow', message), WITH_TIME)).toEqual(ENDED);

    expect(written().at(-1)).toMatchObject({ parked: true, dueIn: keys.dueOf('parked', message.id) });
    expect(sqs).not.toHaveReceivedCommand(SendMessageBatchCommand);
    expect(sqs).not.toHaveReceivedCommand(ChangeMessageVisibilityCommand);
  });

  it('moves a message to the slow queue before it claims the delivery', async () => {
    const { message } = held({ endpoint: { pace: { is: 'slow', until: FAR_OFF } } });

    expect(await handler(received('fresh', message), WITH_TIME)).toEqual(ENDED);

    expect(updates()).toEqual([]);
    expect(sqs).toHaveReceivedCommandExactlyOnceWith(SendMessageBatchCommand, {
      QueueUrl: FUNCTION_ENVIRONMENT.SLOW_QUEUE,
    });
  });

  it('moves a message to the stalled queue, and out of it when its receiver answers', async () => {
    capturedOutput();
    const { message } = held({ endpoint: { pace: { is: 'stalled', until: FAR_OFF } } });

    expect(await handler(received('fresh', message), WITH_TIME)).toEqual(ENDED);
    expect(updates()).toEqual([]);
    expect(sqs).toHaveReceivedCommandExactlyOnceWith(SendMessageBatchCommand, {
      QueueUrl: FUNCTION_ENVIRONMENT.STALLED_QUEUE,
    });

    expect(await handler(received('stalled', message), WITH_TIME)).toEqual(ENDED);
    const marked = updates().filter(({ TableName }) => TableName === FUNCTION_ENVIRONMENT.SERVICE_TABLE);
    expect(marked.map((update) => rowAfter(update))).toEqual([{ pace: { is: 'new' } }]);
  });

  it('keeps the message when it could not be moved', async () => {
    const { message } = held({ endpoint: { pace: { is: 'slow', until: FAR_OFF } } });
    sqs
      .on(SendMessageBatchCommand)
      .resolves({ Failed: [{ Id: '0', Code: 'InternalError', SenderFault: false }] });

    expect(await handler(received('fresh', message), WITH_TIME)).toEqual(STAYS);
  });

  it('skips a delivery whose event is missing', async () => {
    capturedOutput();
    const { message } = held({ event: 'gone' });

    expect(await handler(received('fresh', message), WITH_TIME)).toEqual(ENDED);

    expect(written()).toMatchObject([{ status: 'skipped', terminalReason: 'event_missing' }]);
  });

  it('skips the delivery of a deleted endpoint, and deletes the message', async () => {
    const { message, event } = held();
    dynamo.on(BatchGetCommand).resolves({
      Responses: { [FUNCTION_ENVIRONMENT.OUTBOX_TABLE]: [{ ...keys.event(event, event.id), ...event }] },
    });

    expect(await handler(received('fresh', message), WITH_TIME)).toEqual(ENDED);

    expect(written()).toMatchObject([{ terminalReason: 'endpoint_deleted' }]);
  });

  it('deletes the message of a delivery that has ended', async () => {
    const { message, delivery } = held();
    dynamo.on(UpdateCommand).rejects(refused({ ...delivery, status: 'succeeded' }));

    expect(await handler(received('fresh', message), WITH_TIME)).toEqual(ENDED);
  });

  it('leaves the message in its queue when the claim fails', async () => {
    const output = capturedOutput();
    const { message } = held();
    dynamo.on(UpdateCommand).rejects(new Error('throttled'));

    expect(await handler(received('fresh', message), WITH_TIME)).toEqual(STAYS);
    expect(output.logged('ERROR')).toHaveLength(1);
  });

  it('drops and counts an unreadable message, and processes the rest of its batch', async () => {
    const output = capturedOutput();
    const { message } = held({ endpoint: { status: 'auto_disabled' } });

    expect(await handler(received('fresh', 'not JSON', { id: 'dlv_1' }, message), WITH_TIME)).toEqual(ENDED);

    expect(output.metric(UNREADABLE_MESSAGES)).toBe(2);
    expect(written()).toMatchObject([{ terminalReason: 'endpoint_disabled' }]);
  });

  it('keeps the message unclaimed when its endpoint and event cannot be read', async () => {
    const output = capturedOutput();
    const { message } = held();
    dynamo.on(BatchGetCommand).rejects(new Error('throttled'));
    dynamo.on(GetCommand, { TableName: FUNCTION_ENVIRONMENT.OUTBOX_TABLE }).rejects(new Error('throttled'));

    expect(await handler(received('fresh', message), WITH_TIME)).toEqual(STAYS);

    expect(updates()).toEqual([]);
    expect(output.logged('ERROR')).toHaveLength(1);
  });

  it('rejects a batch of an unknown queue', async () => {
    const { message } = held();

    await expect(handler(received('dead-fan-outs', message), WITH_TIME)).rejects.toThrow('dead-fan-outs');
    expect(updates()).toEqual([]);
  });
});
