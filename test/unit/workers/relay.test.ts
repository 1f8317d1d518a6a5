import 'aws-sdk-client-mock-vitest/extend';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { channelEventId, newId } from '../../../functions/domain/ids.ts';
import { handler } from '../../../functions/workers/relay.ts';
import { aBusEvent, aConversation, aMessage, anHttpChannel, aTenant, NOW } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { busMessage, capturedOutput, liveOrganizations, received, WITH_TIME } from './a-worker.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const DONE = { batchItemFailures: [] };
const tenant = aTenant();
const channel = anHttpChannel({ orgId: tenant.orgId });
const conversation = aConversation({ channelId: channel.id });
const message = aMessage({ conversationId: conversation.id, role: 'agent' });
const anAnswer = () =>
  aBusEvent({
    ...tenant,
    id: newId('evt', NOW),
    data: { conversationId: conversation.id, messageId: message.id, role: 'agent' },
  });
const run = (...events: Parameters<typeof busMessage>[0][]) =>
  handler(received('relay', ...events.map(busMessage)), WITH_TIME);
const added = () => dynamo.commandCalls(PutCommand).map(({ args: [{ input }] }) => input);

beforeEach(() => {
  dynamo.reset();
  const rows: Record<string, object> = {
    [conversation.id]: conversation,
    [message.id]: message,
    [channel.id]: channel,
  };
  dynamo.on(GetCommand).callsFake((input) => ({ Item: rows[input.Key.sk] ?? liveOrganizations(input).Item }));
  dynamo.on(PutCommand).resolves({});
});

describe('the function that hands messages on to channels', () => {
  it('adds an event to the outbox for each, under a condition', async () => {
    const [one, other] = [anAnswer(), anAnswer()];

    expect(await run(one, other)).toEqual(DONE);

    expect(added()).toEqual(
      [one, other].map(({ id }) => ({
        TableName: FUNCTION_ENVIRONMENT.OUTBOX_TABLE,
        Item: expect.objectContaining({
          pk: channelEventId(id as `evt_${string}`, channel.id),
          type: 'channel.message',
          onlyTo: channel.id,
        }),
        ConditionExpression: 'attribute_not_exists(pk)',
      })),
    );
  });

  it('is done with what was added before', async () => {
    dynamo
      .on(PutCommand)
      .rejects(new ConditionalCheckFailedException({ message: 'it is there', $metadata: {} }));
    expect(await run(anAnswer())).toEqual(DONE);
  });

  it('has a message come again whose event could not be added, and no other of its batch', async () => {
    capturedOutput();
    dynamo.on(PutCommand).rejectsOnce(new Error('throttled')).resolves({});
    expect((await run(anAnswer(), anAnswer(), anAnswer())).batchItemFailures).toHaveLength(1);
    expect(added()).toHaveLength(3);
  });
});
