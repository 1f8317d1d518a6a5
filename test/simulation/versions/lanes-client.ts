import type { SQSClient } from '@aws-sdk/client-sqs';
import { CROWDED_IN_FLIGHT, LANES, type Lane, mapLanes } from '../../../functions/domain/lanes.ts';
import type { World } from '../world.ts';
import { OF_A_LATER_VERSION } from './rows.ts';

/** A queue's URL is the name of its lane. */
export const LANE_URLS: Readonly<Record<Lane, string>> = mapLanes((lane) => lane);

interface Input {
  QueueUrl: string;
  Entries?: { Id: string; MessageBody: string; DelaySeconds?: number }[];
  ReceiptHandle?: string;
  VisibilityTimeout?: number;
  AttributeNames?: string[];
}

/** The world's queues as SQS: messages are texts, and delays are in seconds of the queues' own clock. */
export function lanesClient({ lanes, clock }: World): SQSClient {
  const after = (seconds: number) => new Date(clock.ms + seconds * 1000);
  const answers: Record<string, (lane: Lane, input: Input) => Promise<object>> = {
    async SendMessageBatchCommand(lane, { Entries = [] }) {
      const messages = Entries.map(({ MessageBody, DelaySeconds = 0 }) => ({
        // In the form of a later version.
        message: { ...JSON.parse(MessageBody), [OF_A_LATER_VERSION]: 'unknown' },
        ...(DelaySeconds === 0 ? {} : { until: after(DelaySeconds) }),
      }));
      const refused = await lanes.send(lane, messages);
      return {
        Failed: Entries.filter((_, index) => refused.includes(messages[index]?.message)).map(({ Id }) => ({
          Id,
        })),
      };
    },
    async ChangeMessageVisibilityCommand(lane, { ReceiptHandle = '', VisibilityTimeout = 0 }) {
      await lanes.hide(lane, ReceiptHandle, after(VisibilityTimeout));
      return {};
    },
    async GetQueueAttributesCommand(lane) {
      const inFlight = (await lanes.crowded(lane)) ? CROWDED_IN_FLIGHT : 0;
      return {
        Attributes: {
          ApproximateNumberOfMessages: String(await lanes.backlog(lane)),
          ApproximateNumberOfMessagesNotVisible: String(inFlight),
        },
      };
    },
  };
  const send = (command: { input: Input }): Promise<object> => {
    const lane = LANES.find((one) => LANE_URLS[one] === command.input.QueueUrl);
    const answer = answers[command.constructor.name];
    if (lane === undefined || answer === undefined)
      throw new Error(`${command.constructor.name} is not known to the simulated queues`);
    return answer(lane, command.input);
  };
  // The adapter uses only `send`.
  return { send } as unknown as SQSClient;
}
