import 'aws-sdk-client-mock-vitest/extend';
import { ChangeMessageVisibilityCommand, SQSClient } from '@aws-sdk/client-sqs';
import { GetCommand, QueryCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { CHECKED, UNREADABLE_MESSAGES } from '../../../functions/aws/metrics.ts';
import type { Source } from '../../../functions/knowledge/sources.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { createSandbox } from '../../../functions/tenancy/organizations.ts';
import { handler } from '../../../functions/workers/check-source.ts';
import { aBusEvent, aSource, NOW } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';
import { busMessage, capturedOutput, received, refused, WITH_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const queues = mockClient(SQSClient);
const { sandbox } = createSandbox('org_00000000000000000000000000000000', NOW);

/** A source of a sandbox whose URL has a simulation program. */
const programmed = (program: string): Source =>
  aSource({
    orgId: sandbox.id,
    generation: sandbox.generation,
    url: `https://example.com/?simulate=${program}`,
  });

const asked = (source: Source, type = 'source.check') =>
  busMessage(
    aBusEvent({ type, orgId: source.orgId, generation: source.generation, data: { sourceId: source.id } }),
  );

/** Grants the lease of a source. */
function hold(source: Source): void {
  dynamo
    .on(UpdateCommand, { Key: keys.source(source, source.id), ReturnValues: 'ALL_NEW' })
    .resolves({ Attributes: { ...source, starts: 1 } });
}

beforeEach(() => {
  dynamo.reset();
  queues.reset();
  dynamo.on(GetCommand).resolves({ Item: { ...sandbox, tier: 'sandbox' } });
  dynamo.on(UpdateCommand).resolves({});
  dynamo.on(QueryCommand).resolves({ Items: [] });
  dynamo.on(TransactWriteCommand).resolves({});
});

describe('source check function', () => {
  it('checks each source of a batch separately, and counts checks and failures', async () => {
    const output = capturedOutput();
    const [good, bad] = [programmed('200'), programmed('503')];
    hold(good);
    hold(bad);

    expect(await handler(received('checks', asked(good), asked(bad)), WITH_TIME)).toEqual({
      batchItemFailures: [],
    });

    expect(dynamo).toHaveReceivedCommandTimes(TransactWriteCommand, 1);
    expect(output.metric(CHECKED.checked)).toBe(2);
    expect(output.metric(CHECKED.failed)).toBe(1);
  });

  it('leaves exactly the failed and the unreadable messages in its queue', async () => {
    const output = capturedOutput();
    const [good, failing] = [programmed('200'), programmed('200')];
    hold(good);
    dynamo
      .on(UpdateCommand, { Key: keys.source(failing, failing.id) })
      .rejects(Object.assign(new Error('throttled'), { name: 'ThrottlingException' }));

    const messages = received(
      'checks',
      asked(good),
      asked(failing),
      'no message',
      asked(good, 'source.moved'),
    );

    const { batchItemFailures } = (await handler(messages, WITH_TIME)) ?? { batchItemFailures: [] };
    expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier).toSorted()).toEqual([
      'message-2',
      'message-3',
      'message-4',
    ]);
    expect(output.metric(UNREADABLE_MESSAGES)).toBe(1);
  });

  it('hides a message whose organization has no free slot, and checks the others of the batch', async () => {
    capturedOutput();
    const [good, waiting] = [programmed('200'), aSource({ orgId: 'org_00000000000000000000000000000009' })];
    hold(good);
    const until = Date.now() + 60_000;
    const slots = Array.from({ length: 5 }, (_, slot) => [`slot${slot}`, { token: 'another', until }]);
    dynamo.on(UpdateCommand, { Key: keys.checkSlots(waiting) }).rejects(refused(Object.fromEntries(slots)));
    dynamo.on(GetCommand, { Key: keys.organization(waiting.orgId) }).resolves({
      Item: { ...sandbox, id: waiting.orgId, environment: 'live', tier: 'standard', generation: 0 },
    });

    expect(await handler(received('checks', asked(good), asked(waiting)), WITH_TIME)).toEqual({
      batchItemFailures: [{ itemIdentifier: 'message-2' }],
    });

    expect(dynamo).toHaveReceivedCommandTimes(TransactWriteCommand, 1);
    expect(queues).toHaveReceivedCommandExactlyOnceWith(ChangeMessageVisibilityCommand, {
      QueueUrl: FUNCTION_ENVIRONMENT.CHECKS_QUEUE,
      ReceiptHandle: 'receipt-2',
      VisibilityTimeout: expect.toSatisfy((seconds: number) => seconds >= 0 && seconds <= 1),
    });
  });

  it('ignores a source that is gone', async () => {
    capturedOutput();
    const source = programmed('200');
    dynamo.on(UpdateCommand, { Key: keys.source(source, source.id) }).rejects(refused());

    expect(await handler(received('checks', asked(source)), WITH_TIME)).toEqual({ batchItemFailures: [] });
    expect(dynamo).not.toHaveReceivedCommand(TransactWriteCommand);
  });

  it('queries the texts of a deleted source', async () => {
    capturedOutput();
    const source = programmed('200');

    await handler(received('checks', asked(source, 'source.deleted')), WITH_TIME);

    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(QueryCommand, {
      TableName: FUNCTION_ENVIRONMENT.KNOWLEDGE_TABLE,
      ProjectionExpression: '#pk, #sk',
    });
  });
});
