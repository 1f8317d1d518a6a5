import { QueueDoesNotExist } from '@aws-sdk/client-sqs';
import { describeEngineError } from '../engine-errors.ts';
import { MESSAGE_BYTES } from '../engines/message-sizes.ts';
import type { RefusalOfQueue } from '../permissions/queue-access.ts';
import type { BusRule, BusTarget } from './bus-rules.ts';
import { chunksBySize } from './chunks.ts';
import type { BusEvent } from './put-events.ts';
import type { Queues } from './queues.ts';

export interface TargetParts {
  queues: Queues;
  queueUrlOf: (arn: string) => string;
  refusalOfQueue: RefusalOfQueue;
  log: (line: { source: string; text: string }) => void;
}

interface Refusal {
  event: BusEvent;
  error: unknown;
}

/** The policy of a queue or its key denies EventBridge, which then does not retry. */
class NoPermission extends Error {
  override name = 'NoPermission';
}

/**
 * Sends events to a rule's target, with the SDK's three attempts; failures go to the target's dead-letter
 * queue. As on AWS, an event that policies keep out of both is dropped, and logged.
 * @param events ten at most
 * @returns those that are in neither and were not dropped
 */
export async function sendToTarget(
  events: readonly BusEvent[],
  rule: BusRule,
  target: BusTarget,
  parts: TargetParts,
): Promise<BusEvent[]> {
  const { log } = parts;
  const refused = await sendAll(events, rule, target, parts);
  const lost = await Promise.all(
    refused.map(async ({ event, error }) => {
      log({
        source: rule.logicalId,
        text: `an event was not taken by ${target.queueArn}: ${describeEngineError(error)}`,
      });
      try {
        if (await sendDead(event, rule, target, error, parts)) return undefined;
      } catch (deadError) {
        log({
          source: rule.logicalId,
          text: `its dead-letter queue neither: ${describeEngineError(deadError)}`,
        });
        if (deadError instanceof NoPermission) return undefined;
      }
      return error instanceof NoPermission ? undefined : event;
    }),
  );
  return lost.filter((event) => event !== undefined);
}

/** @throws NoPermission when the rule may not send to the queue */
function requirePermission({ arn }: BusRule, queueArn: string, { refusalOfQueue }: TargetParts): void {
  const refusal = refusalOfQueue(queueArn, { service: 'events.amazonaws.com', sourceArn: arn });
  if (refusal !== undefined) throw new NoPermission(refusal);
}

/** @returns false when the target has no dead-letter queue */
async function sendDead(
  event: BusEvent,
  rule: BusRule,
  target: BusTarget,
  error: unknown,
  parts: TargetParts,
): Promise<boolean> {
  if (target.deadLetterArn === undefined) return false;
  requirePermission(rule, target.deadLetterArn, parts);
  await parts.queues.send(parts.queueUrlOf(target.deadLetterArn), {
    MessageBody: messageBody(event),
    MessageAttributes: deadLetterAttributes(rule, target, error),
  });
  return true;
}

/** EventBridge sends each event separately: one that is too large is rejected alone. */
async function sendAll(
  events: readonly BusEvent[],
  rule: BusRule,
  target: BusTarget,
  parts: TargetParts,
): Promise<Refusal[]> {
  const measureEvent = (event: BusEvent) => Buffer.byteLength(messageBody(event));
  const batches = chunksBySize(events, measureEvent, { count: events.length, bytes: MESSAGE_BYTES });
  return (await Promise.all(batches.map((batch) => sendBatch(batch, rule, target, parts)))).flat();
}

async function sendBatch(
  events: readonly BusEvent[],
  rule: BusRule,
  { queueArn, messageGroup }: BusTarget,
  parts: TargetParts,
): Promise<Refusal[]> {
  const messages = events.map((event) => ({
    MessageBody: messageBody(event),
    MessageGroupId: messageGroup && groupFrom(messageGroup, event),
  }));
  try {
    requirePermission(rule, queueArn, parts);
    const refusals = await parts.queues.sendAll(parts.queueUrlOf(queueArn), messages);
    return events
      .map((event, index) => ({ event, error: refusals[index] }))
      .filter(({ error }) => error !== undefined);
  } catch (error) {
    return events.map((event) => ({ event, error }));
  }
}

/**
 * Message group of an event. A value that is a JSON path is replaced by its result in the event (EventBridge
 * User Guide, Event bus targets, Dynamic path parameters).
 */
function groupFrom(group: string, event: object): string | undefined {
  if (!group.startsWith('$.')) return group;
  const matched = group
    .slice(2)
    .split('.')
    .reduce((value: unknown, name) => Object(value)[name], event);
  return typeof matched === 'string' ? matched : undefined;
}

/** Event as JSON. Escapes characters beyond U+FFFF, which the embedded SQS rejects and SQS accepts. */
export const messageBody = (event: object): string =>
  JSON.stringify(event).replaceAll(
    /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Attributes of a dead event (User Guide, Using dead-letter queues to process undelivered events). */
function deadLetterAttributes({ arn }: BusRule, { queueArn }: BusTarget, error: unknown) {
  const attributes = {
    RULE_ARN: arn,
    TARGET_ARN: queueArn,
    ERROR_CODE: errorCode(error),
    ERROR_MESSAGE: error instanceof Error ? error.message : String(error),
  };
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      // SQS rejects an attribute without a value.
      { DataType: 'String', StringValue: value || 'none' },
    ]),
  );
}

function errorCode(error: unknown): string {
  if (error instanceof NoPermission) return 'NO_PERMISSIONS';
  return error instanceof QueueDoesNotExist ? 'NO_RESOURCE' : 'SDK_CLIENT_ERROR';
}
