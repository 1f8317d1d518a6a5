import 'aws-sdk-client-mock-vitest/extend';
import { ChangeMessageVisibilityCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { deriveJobDeliveryId, newId } from '../../../functions/aws/ids.ts';
import { DeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { LANE_TABLE } from '../../../functions/delivery/lanes.ts';
import { deliveryQueues, queueUrls } from '../../../functions/delivery/queues.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';

const urls = {
  fresh: 'https://sqs.us-east-1.amazonaws.com/000000000000/fresh',
  retry: 'https://sqs.us-east-1.amazonaws.com/000000000000/retry',
};
const sqs = mockClient(SQSClient);
const queues = deliveryQueues(
  new SQSClient({}),
  (lane: keyof typeof urls) => urls[lane],
  () => NOW,
);

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

  it('sends to the given queue', async () => {
    await send(messages(1));
    await queues.send('retry', [{ message: aMessage() }]);
    expect(sqs.commandCalls(SendMessageBatchCommand).map(({ args }) => args[0].input.QueueUrl)).toEqual([
      urls.fresh,
      urls.retry,
    ]);
  });

  it.each([
    [30_000, 30],
    [29_001, 30],
    [1, 1],
    [900_000, 900],
    [901_000, 900],
    [86_400_000, 900],
  ])('delays a message that is due in %i ms by %i whole seconds', async (milliseconds, delay) => {
    await queues.send('retry', [{ message: aMessage(), until: later(NOW, milliseconds) }]);
    expect(batches().flat()).toMatchObject([{ DelaySeconds: delay }]);
  });

  it.each([undefined, 0, -1, -86_400_000])(
    "leaves the delay to the queue's default where there is none (%s ms)",
    async (milliseconds) => {
      const until = milliseconds === undefined ? {} : { until: later(NOW, milliseconds) };
      await queues.send('retry', [{ message: aMessage(), ...until }]);
      expect(batches().flat()[0]).not.toHaveProperty('DelaySeconds');
    },
  );

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

describe('hiding a message', () => {
  it.each([
    [30_000, 30],
    [29_001, 30],
    [1, 1],
    [0, 0],
    [-5_000, 0],
    [86_400_000, 42_300],
  ])('hides it for %i ms as %i whole seconds', async (milliseconds, hidden) => {
    await queues.hide('retry', 'receipt', later(NOW, milliseconds));
    expect(sqs).toHaveReceivedCommandExactlyOnceWith(ChangeMessageVisibilityCommand, {
      QueueUrl: urls.retry,
      ReceiptHandle: 'receipt',
      VisibilityTimeout: hidden,
    });
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
