import {
  QueueDoesNotExist,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { describeEngineError } from '../connection-failure.ts';
import type { BusRule, BusTarget } from './bus-rules.ts';
import type { BusEvent } from './put-events.ts';

/** How targets are reached. */
export interface TargetParts {
  sqs: SQSClient;
  queueUrlOf: (arn: string) => string;
  log: (line: { source: string; text: string }) => void;
}

interface Refusal {
  event: BusEvent;
  error: unknown;
}

/**
 * Sends events that a rule matched to one of its targets; what the queue does not take goes to the target's dead-letter queue. The SDK's client
 * tries three times.
 * @param events ten at most
 * @returns those that are in neither
 */
export async function sendToTarget(
  events: readonly BusEvent[],
  rule: BusRule,
  target: BusTarget,
  { sqs, queueUrlOf, log }: TargetParts,
): Promise<BusEvent[]> {
  const refused = await sendAll(events, queueUrlOf(target.queueArn), sqs);
  const lost = await Promise.all(
    refused.map(async ({ event, error }) => {
      log({
        source: rule.logicalId,
        text: `an event was not taken by ${target.queueArn}: ${describeEngineError(error)}`,
      });
      if (target.deadLetterArn === undefined) return event;
      try {
        await sqs.send(
          new SendMessageCommand({
            QueueUrl: queueUrlOf(target.deadLetterArn),
            MessageBody: messageBody(event),
            MessageAttributes: deadLetterAttributes(rule, target, error),
          }),
        );
        return undefined;
      } catch (deadError) {
        log({
          source: rule.logicalId,
          text: `its dead-letter queue neither: ${describeEngineError(deadError)}`,
        });
        return event;
      }
    }),
  );
  return lost.filter((event) => event !== undefined);
}

async function sendAll(events: readonly BusEvent[], QueueUrl: string, sqs: SQSClient): Promise<Refusal[]> {
  const Entries = events.map((event, index) => ({ Id: String(index), MessageBody: messageBody(event) }));
  try {
    const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    const errors = new Map(Failed.map(({ Id, Code, Message }) => [Id, `${Code}: ${Message}`]));
    return events
      .map((event, index) => ({ event, error: errors.get(String(index)) }))
      .filter(({ error }) => error !== undefined);
  } catch (error) {
    return events.map((event) => ({ event, error }));
  }
}

/**
 * The event as JSON, in which what the embedded SQS refuses is escaped: it takes characters beyond U+FFFF for none that a message may have,
 * which SQS does not.
 */
export const messageBody = (event: object): string =>
  JSON.stringify(event).replaceAll(
    /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** What EventBridge writes on a dead event (User Guide, Using dead-letter queues to process undelivered events). */
function deadLetterAttributes({ arn }: BusRule, { queueArn }: BusTarget, error: unknown) {
  const attributes = {
    RULE_ARN: arn,
    TARGET_ARN: queueArn,
    ERROR_CODE: error instanceof QueueDoesNotExist ? 'NO_RESOURCE' : 'SDK_CLIENT_ERROR',
    ERROR_MESSAGE: error instanceof Error ? error.message : String(error),
  };
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      // SQS takes no attribute without a value.
      { DataType: 'String', StringValue: value || 'none' },
    ]),
  );
}
