import 'aws-sdk-client-mock-vitest/extend';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { ABANDONED_ENTRIES } from '../../../functions/aws/metrics.ts';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { BUS_SOURCE, createNotice } from '../../../functions/events/bus.ts';
import { handler } from '../../../functions/workers/publish.ts';
import { aDelivery, anEvent, aTenant, NOW } from '../../builders.ts';
import { aRecord, capturedOutput, WITH_TIME } from './a-worker.ts';

const eventBridge = mockClient(EventBridgeClient);
const sqs = mockClient(SQSClient);
const tenant = aTenant();
const outbox = outboxStore({ client: DynamoDBClient.prototype, name: 'outbox' });
const toRow = (event = anEvent({ tenant })) => outbox.append(event).write.Put?.Item ?? {};
const run = (...rows: Record<string, unknown>[]) =>
  handler({ Records: rows.map((row, index) => aRecord(row, 100 + index)) }, WITH_TIME);
/** The ids of the events that were put on the bus. */
const put = () =>
  eventBridge
    .commandCalls(PutEventsCommand)
    .flatMap(({ args: [{ input }] }) => input.Entries ?? [])
    .map(({ Detail = '' }) => JSON.parse(Detail).id);

/** The ids of the entries of each letter. */
const letters = () =>
  sqs
    .commandCalls(SendMessageBatchCommand)
    .flatMap(({ args: [{ input }] }) => input.Entries ?? [])
    .map(({ MessageBody = '' }) => JSON.parse(MessageBody).keys.map(({ sk }: { sk: string }) => sk));

beforeEach(() => {
  eventBridge.reset();
  sqs.reset();
  sqs.on(SendMessageBatchCommand).resolves({});
  eventBridge
    .on(PutEventsCommand)
    .callsFake(({ Entries }) => ({ Entries: Entries.map(() => ({ EventId: 'taken' })) }));
});

describe('publisher function', () => {
  it('puts the events of the outbox on the bus of its environment', async () => {
    const event = anEvent({ tenant });
    const sourceId = newId('src', NOW);
    const notice = outbox.appendNotice(
      createNotice('source.check', `${sourceId}#now`, { sourceId }, { tenant, now: NOW }),
    );

    expect(await run(toRow(event), notice.write.Put?.Item ?? {})).toEqual({ batchItemFailures: [] });

    expect(put()).toEqual([event.id, `${sourceId}#now`]);
    const [call] = eventBridge.commandCalls(PutEventsCommand);
    expect(call?.args[0].input.Entries?.[0]).toMatchObject({
      EventBusName: 'bus',
      Source: BUS_SOURCE,
      DetailType: 'conversation.created',
    });
  });

  it('sends no request for entries without an event for the bus', async () => {
    const test = toRow(anEvent({ tenant, onlyTo: newId('whk', NOW) }));
    const redelivery = outbox.appendRedelivery(toDeliveryMessage(aDelivery())).write.Put?.Item ?? {};

    expect(await run(test, redelivery)).toEqual({ batchItemFailures: [] });

    expect(eventBridge).not.toHaveReceivedCommand(PutEventsCommand);
  });

  it('sends refused entries to the queue of failed entries', async () => {
    const output = capturedOutput();
    const events = Array.from({ length: 12 }, () => anEvent({ tenant }));
    eventBridge.on(PutEventsCommand).callsFake(({ Entries }: { Entries: PutEventsRequestEntry[] }) => ({
      Entries: Entries.map(({ Detail = '' }) =>
        [events[4], events[11]].some((event) => event?.id === JSON.parse(Detail).id)
          ? { ErrorCode: 'ThrottlingException' }
          : { EventId: 'taken' },
      ),
    }));

    expect(await run(...events.map(toRow))).toEqual({ batchItemFailures: [] });
    expect(letters()).toEqual([[events[4]?.id, events[11]?.id]]);
    expect(output.logged('WARN')).not.toEqual([]);
  });

  it('sends all entries of a failed request to it', async () => {
    capturedOutput();
    eventBridge.on(PutEventsCommand).rejects(new Error('out of reach'));

    const events = [anEvent({ tenant }), anEvent({ tenant })];
    expect(await run(...events.map(toRow))).toEqual({ batchItemFailures: [] });
    expect(letters()).toEqual([events.map(({ id }) => id)]);
  });

  it('gives up an unreadable record with an error, and continues with the next ones', async () => {
    const output = capturedOutput();
    const event = anEvent({ tenant });

    expect(await run({ ...toRow(), body: undefined }, {}, toRow(event))).toEqual({ batchItemFailures: [] });

    expect(put()).toEqual([event.id]);
    expect(output.metric(ABANDONED_ENTRIES)).toBe(2);
    expect(output.logged('ERROR')).toHaveLength(2);
  });
});
