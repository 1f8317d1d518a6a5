import { ConditionalCheckFailedException, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { saveEvent } from '../../../examples/aws-lambda/inbox.ts';
import { handler as work } from '../../../examples/aws-lambda/work.ts';
import type { ReceivedEvent } from '../../../packages/sdk/src/receiver/index.ts';

const anEvent = (id = 'evt_1'): ReceivedEvent => ({
  id,
  deliveryId: 'dlv_1',
  endpointId: 'whk_1',
  isExample: false,
  attempt: 1,
  type: 'message.received',
  schemaVersion: 1,
  orgId: 'org_1',
  createdAt: '2026-11-24T09:00:00.000Z',
  data: { conversationId: 'cnv_1', messageId: 'msg_1', role: 'user' },
});

function aTable() {
  const table = mockClient(DynamoDBClient);
  onTestFinished(() => table.restore());
  return table;
}

describe('the table of the Lambda receiver', () => {
  it('gets an event under its id, and only if it has none', async () => {
    const table = aTable();
    table.on(PutItemCommand).resolves({});
    await saveEvent(anEvent());
    expect(table.commandCalls(PutItemCommand)[0]?.args[0].input).toMatchObject({
      Item: {
        id: { S: 'evt_1' },
        event: { S: JSON.stringify(anEvent()) },
        expiresAt: { N: expect.any(String) },
      },
      ConditionExpression: 'attribute_not_exists(id)',
    });
  });

  it('ignores an event that it has', async () => {
    const table = aTable();
    table
      .on(PutItemCommand)
      .rejects(new ConditionalCheckFailedException({ message: 'exists', $metadata: {} }));
    await expect(saveEvent(anEvent())).resolves.toBeUndefined();
  });

  it('has the event delivered once more when it cannot be written', async () => {
    const table = aTable();
    table.on(PutItemCommand).rejects(new Error('throttled'));
    await expect(saveEvent(anEvent())).rejects.toThrow('throttled');
  });
});

describe('the worker of the Lambda receiver', () => {
  const aRecord = (number: number, event: string): DynamoDBRecord => ({
    dynamodb: { SequenceNumber: String(number), NewImage: { event: { S: event } } },
  });

  it('reports the first record that it could not process', async () => {
    const lines: string[] = [];
    const log = vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(line));
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    onTestFinished(() => {
      log.mockRestore();
      error.mockRestore();
    });
    const events = [JSON.stringify(anEvent('evt_1')), 'not an event', JSON.stringify(anEvent('evt_3'))];
    const Records = events.map((event, index) => aRecord(index + 1, event));
    expect(await work({ Records })).toEqual({ batchItemFailures: [{ itemIdentifier: '2' }] });
    expect(lines).toEqual(['Message msg_1 by user', 'Processed evt_1 message.received']);
    expect(await work({ Records: Records.slice(0, 1) })).toEqual({ batchItemFailures: [] });
  });
});
