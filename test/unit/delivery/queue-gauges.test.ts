import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { CROWDED_IN_FLIGHT } from '../../../functions/delivery/lanes.ts';
import { deliveryQueues } from '../../../functions/delivery/queues.ts';
import { seconds } from '../../builders.ts';

const urls = { retry: 'https://sqs.example.com/retry', slow: 'https://sqs.example.com/slow' };
const sqs = mockClient(SQSClient);

/** New queue gauges, with nothing cached. */
function aProcess() {
  const clock = new VirtualClock();
  return {
    clock,
    queues: deliveryQueues(new SQSClient({}), (lane: keyof typeof urls) => urls[lane], clock.now),
  };
}

const inFlight = (count: number | string) =>
  sqs
    .on(GetQueueAttributesCommand)
    .resolves({ Attributes: { ApproximateNumberOfMessagesNotVisible: String(count) } });
const asked = () => sqs.commandCalls(GetQueueAttributesCommand).map(({ args }) => args[0].input);

beforeEach(() => {
  sqs.reset();
});

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

  it('reads each queue separately', async () => {
    inFlight(0);
    const { queues } = aProcess();

    await queues.crowded('retry');
    await queues.crowded('slow');

    expect(asked().map(({ QueueUrl }) => QueueUrl)).toEqual([urls.retry, urls.slow]);
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

describe('the backlog of a queue', () => {
  it('is the number of receivable messages, read each time', async () => {
    sqs
      .on(GetQueueAttributesCommand)
      .resolvesOnce({ Attributes: { ApproximateNumberOfMessages: '17' } })
      .resolvesOnce({ Attributes: { ApproximateNumberOfMessages: '0' } });
    const { clock, queues } = aProcess();

    expect(await queues.backlog('slow')).toBe(17);
    clock.elapse(seconds(1));
    expect(await queues.backlog('slow')).toBe(0);

    expect(asked()).toEqual(
      Array.from({ length: 2 }, () => ({
        QueueUrl: urls.slow,
        AttributeNames: ['ApproximateNumberOfMessages'],
      })),
    );
  });
});
