import 'aws-sdk-client-mock-vitest/extend';
import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { mockClient } from 'aws-sdk-client-mock';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { deriveJobDeliveryId, newId } from '../../../functions/aws/ids.ts';
import { logger } from '../../../functions/aws/logger.ts';
import { DeliveryMessage, toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { CROWDED_IN_FLIGHT, LANE_TABLE } from '../../../functions/delivery/lanes.ts';
import {
  deliveryQueues,
  parseDeliveryMessage,
  queueUrls,
  workerQueue,
} from '../../../functions/delivery/queues.ts';
import type { BusEvent } from '../../../functions/events/bus.ts';
import { buildDueEvent } from '../../../functions/knowledge/sources.ts';
import { aBusEvent, aDelivery, aSource, later, NOW, seconds } from '../../builders.ts';

describe('parseDeliveryMessage', () => {
  it('returns the message that was sent', () => {
    const message = toDeliveryMessage(aDelivery());
    expect(parseDeliveryMessage(JSON.stringify(message), 'message-1')).toEqual(message);
  });

  it.each([
    '',
    'null',
    '{}',
    '{"id":',
    JSON.stringify({ ...toDeliveryMessage(aDelivery()), id: 'evt_1' }),
    JSON.stringify({ ...toDeliveryMessage(aDelivery()), generation: 'first' }),
  ])('drops %j, with a log line', (body) => {
    const log = vi.spyOn(logger, 'log').mockImplementation(() => undefined);
    onTestFinished(() => log.mockRestore());
    expect(parseDeliveryMessage(body, 'message-1')).toBeUndefined();
    expect(log.mock.calls).toEqual([
      ['REMINDER_UNREADABLE', { messageId: 'message-1', error: expect.any(Error) }],
    ]);
  });
});

const urls = {
  fresh: 'https://sqs.us-east-1.amazonaws.com/000000000000/fresh',
  retry: 'https://sqs.us-east-1.amazonaws.com/000000000000/retry',
};
const urlOf = (lane: keyof typeof urls) => urls[lane];
const sqs = mockClient(SQSClient);
const queues = deliveryQueues(new SQSClient({}), urlOf, () => NOW);

interface Entry {
  Id: string;
  MessageBody: string;
}

const aMessage = (): DeliveryMessage => DeliveryMessage.parse(aDelivery());
const messages = (count: number): DeliveryMessage[] => Array.from({ length: count }, aMessage);
const send = (all: readonly DeliveryMessage[]) =>
  queues.send(
    'fresh',
    all.map((message) => ({ message })),
  );
const batches = () =>
  sqs.commandCalls(SendMessageBatchCommand).map((call) => call.args[0].input.Entries ?? []);
const sent = () => batches().flatMap((batch) => batch.map((entry) => JSON.parse(entry.MessageBody ?? '')));

beforeEach(() => {
  sqs.reset();
  sqs.on(SendMessageBatchCommand).resolves({});
  sqs.on(ChangeMessageVisibilityCommand).resolves({});
});

describe('sending delivery messages', () => {
  it("groups messages of a redelivery job separately, so that it does not delay its organization's deliveries", async () => {
    const { id: _, ...live } = aDelivery();
    const id = deriveJobDeliveryId(live.eventId, live.webhookId, later(NOW, seconds(60)));
    const asked = newId('dlv', NOW);
    await send(
      [
        { ...live, id },
        { ...live, id: asked },
      ].map((one) => DeliveryMessage.parse(one)),
    );
    const groups = batches().flatMap((batch) => batch.map((entry) => entry.MessageGroupId));
    expect(groups).toEqual([`${live.orgId}/redelivery`, live.orgId]);
    // The limit of SQS for one message.
    expect(groups[0]).toMatch(/^[\w/]{1,128}$/);
  });

  it('returns exactly the messages that the queue refused', async () => {
    let refused = new Set<string>();
    sqs.on(SendMessageBatchCommand).callsFake(({ Entries }: { Entries: Entry[] }) => ({
      Failed: Entries.filter(({ MessageBody }) => refused.has(JSON.parse(MessageBody).id)).map(({ Id }) => ({
        Id,
        Code: 'InternalError',
        SenderFault: false,
      })),
    }));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 35 }), async (refusals) => {
        const all = messages(refusals.length);
        const expected = all.filter((_, index) => refusals[index]);
        refused = new Set(expected.map((message) => message.id));
        const returned = await send(all);
        expect(returned.map(({ item }) => item.message)).toEqual(expected);
        for (const { error } of returned) expect(error).toMatchObject({ code: 'InternalError' });
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['by whole seconds until it is due', later(NOW, 29_001), 30],
    ["by the queue's default when it is due", NOW, undefined],
  ])('delays a message %s', async (_, until, delay) => {
    await queues.send('retry', [{ message: aMessage(), until }]);
    expect(
      batches()
        .flat()
        .map(({ DelaySeconds }) => DelaySeconds),
    ).toEqual([delay]);
  });

  it('returns the messages of a request that fails, and no other', async () => {
    const error = new Error('unreachable');
    let requests = 0;
    sqs.on(SendMessageBatchCommand).callsFake(() => {
      requests += 1;
      if (requests === 1) throw error;
      return {};
    });
    const all = messages(15);
    expect(await send(all)).toEqual(all.slice(0, 10).map((message) => ({ item: { message }, error })));
  });

  it('returns what is no message, and sends the others', async () => {
    const [broken, message] = [{ ...aMessage(), id: 'dlv_1' as DeliveryMessage['id'] }, aMessage()];
    expect(await send([broken, message])).toMatchObject([{ item: { message: broken } }]);
    expect(sent()).toEqual([message]);
  });
});

it('a message is hidden by whole seconds', async () => {
  await queues.hide('retry', 'receipt', later(NOW, 29_001));
  expect(sqs).toHaveReceivedCommandExactlyOnceWith(ChangeMessageVisibilityCommand, {
    QueueUrl: urls.retry,
    ReceiptHandle: 'receipt',
    VisibilityTimeout: 30,
  });
});

it("reads a queue's URL from the variable that the lane table names", () => {
  const { slow, stalled } = LANE_TABLE;
  const urlOf = queueUrls(
    { slow, stalled },
    { SLOW_QUEUE: 'the slow one', STALLED_QUEUE: 'the stalled one' },
  );
  expect([urlOf('slow'), urlOf('stalled')]).toEqual(['the slow one', 'the stalled one']);
});

/** New queue gauges, with nothing cached. */
function aProcess() {
  const clock = new VirtualClock();
  return { clock, queues: deliveryQueues(new SQSClient({}), urlOf, clock.now) };
}

const inFlight = (count: number | string) =>
  sqs
    .on(GetQueueAttributesCommand)
    .resolves({ Attributes: { ApproximateNumberOfMessagesNotVisible: String(count) } });
const asked = () => sqs.commandCalls(GetQueueAttributesCommand).map(({ args }) => args[0].input);

describe('isCrowded', () => {
  it.each([
    [0, false],
    [CROWDED_IN_FLIGHT - 1, false],
    [CROWDED_IN_FLIGHT, true],
    [120_000, true],
  ])('is, with %i messages in flight, %s', async (count, crowded) => {
    inFlight(count);
    expect(await aProcess().queues.crowded('retry')).toBe(crowded);
    expect(asked()).toEqual([
      { QueueUrl: urls.retry, AttributeNames: ['ApproximateNumberOfMessagesNotVisible'] },
    ]);
  });

  it.each([{}, { Attributes: {} }, { Attributes: { ApproximateNumberOfMessagesNotVisible: 'many' } }])(
    'is true when the queue does not report a number (%j)',
    async (answer) => {
      sqs.on(GetQueueAttributesCommand).resolves(answer);
      expect(await aProcess().queues.crowded('retry')).toBe(true);
    },
  );

  it('calls SQS once for all callers within five seconds', async () => {
    inFlight(0);
    const { clock, queues } = aProcess();

    await Promise.all(Array.from({ length: 20 }, () => queues.crowded('retry')));
    clock.elapse(4.999);
    inFlight(CROWDED_IN_FLIGHT);
    expect(await queues.crowded('retry')).toBe(false);
    expect(asked()).toHaveLength(1);

    clock.elapse(0.001);
    expect(await queues.crowded('retry')).toBe(true);
    expect(asked()).toHaveLength(2);
  });

  it('fails every waiting caller when the queue cannot be reached, then calls it again', async () => {
    sqs.on(GetQueueAttributesCommand).rejects(new Error('unreachable'));
    const { queues } = aProcess();
    const answers = await Promise.allSettled([queues.crowded('retry'), queues.crowded('retry')]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);

    inFlight(0);
    expect(await queues.crowded('retry')).toBe(false);
  });
});

it('a worker queue returns the events that the queue refused, and groups each by its organization', async () => {
  sqs
    .on(SendMessageBatchCommand)
    .resolves({ Failed: [{ Id: '1', Code: 'InternalError', SenderFault: false }], Successful: [] });
  const events = Array.from({ length: 3 }, () =>
    buildDueEvent({ ...aSource(), dueAt: NOW.toISOString() }, NOW),
  );

  const queue = workerQueue(new SQSClient({}), 'https://sqs.example.com/checks');

  expect(await queue.send(events)).toMatchObject([{ item: events[1], error: { code: 'InternalError' } }]);
  const [{ Entries = [] } = {}] = sqs.commandCalls(SendMessageBatchCommand).map(({ args }) => args[0].input);
  expect(Entries.map(({ MessageGroupId }) => MessageGroupId)).toEqual(events.map(({ orgId }) => orgId));
});

it('a worker queue sends requests of at most ten messages and fewer bytes than SQS permits', async () => {
  sqs.on(SendMessageBatchCommand).callsFake(({ Entries }: { Entries: { MessageBody: string }[] }) => {
    const bytes = Entries.reduce((sum, { MessageBody }) => sum + Buffer.byteLength(MessageBody), 0);
    if (bytes > 262_144) throw Object.assign(new Error('too long'), { name: 'BatchRequestTooLong' });
    return { Failed: [] };
  });
  const queue = workerQueue(new SQSClient({}), 'https://sqs.example.com/checks');
  const large = (): BusEvent => aBusEvent({ data: { text: 'ö'.repeat(20_000) } });

  expect(await queue.send(Array.from({ length: 12 }, large))).toEqual([]);
  expect(sqs.commandCalls(SendMessageBatchCommand).map(({ args }) => args[0].input.Entries?.length)).toEqual([
    5, 5, 2,
  ]);

  sqs.resetHistory();
  expect(await queue.send(Array.from({ length: 12 }, () => aBusEvent()))).toEqual([]);
  expect(sqs.commandCalls(SendMessageBatchCommand)).toHaveLength(2);
});
