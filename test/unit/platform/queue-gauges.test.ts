import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { CROWDED_IN_FLIGHT } from '../../../functions/domain/lanes.ts';
import { deliveryQueues } from '../../../functions/platform/queues.ts';
import { seconds } from '../../builders.ts';

const urls = { retry: 'https://sqs.example.com/retry', slow: 'https://sqs.example.com/slow' };
const sqs = mockClient(SQSClient);

/** New queues, which know nothing yet. */
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

describe('whether a lane is crowded', () => {
  it.each([
    [0, false],
    [CROWDED_IN_FLIGHT - 1, false],
    [CROWDED_IN_FLIGHT, true],
    [120_000, true],
  ])('with %i messages in flight is %s', async (count, crowded) => {
    inFlight(count);
    expect(await aProcess().queues.crowded('retry')).toBe(crowded);
    expect(asked()).toEqual([
      { QueueUrl: urls.retry, AttributeNames: ['ApproximateNumberOfMessagesNotVisible'] },
    ]);
  });

  it.each([{}, { Attributes: {} }, { Attributes: { ApproximateNumberOfMessagesNotVisible: 'many' } }])(
    'is true when the queue does not say (%j)',
    async (answer) => {
      sqs.on(GetQueueAttributesCommand).resolves(answer);
      expect(await aProcess().queues.crowded('retry')).toBe(true);
    },
  );

  it('is asked once for all that want to know within five seconds', async () => {
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

  it('is asked of each lane on its own', async () => {
    inFlight(0);
    const { queues } = aProcess();

    await queues.crowded('retry');
    await queues.crowded('slow');

    expect(asked().map(({ QueueUrl }) => QueueUrl)).toEqual([urls.retry, urls.slow]);
  });

  it('fails for everybody who waits when the queue cannot be reached, and is then asked again', async () => {
    sqs.on(GetQueueAttributesCommand).rejects(new Error('unreachable'));
    const { queues } = aProcess();
    const answers = await Promise.allSettled([queues.crowded('retry'), queues.crowded('retry')]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);

    inFlight(0);
    expect(await queues.crowded('retry')).toBe(false);
  });
});

describe('the backlog of a lane', () => {
  it('is what could be received now, measured each time', async () => {
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
