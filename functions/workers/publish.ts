import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import middy from '@middy/core';
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import type { BusEvent } from '../domain/bus.ts';
import { eventBridgeClient } from '../platform/clients/eventbridge.ts';
import { PublishEnvironment, readEnvironment } from '../platform/config.ts';
import { eventBus } from '../platform/event-bus.ts';
import { logger } from '../platform/logger.ts';
import { ABANDONED_ENTRIES } from '../platform/metric-names.ts';
import { countOne } from '../platform/metrics.ts';
import { logContext } from '../platform/pipeline/worker.ts';
import { toldBy } from '../store/outbox.ts';
import { rowOf } from '../store/stream-rows.ts';

const environment = readEnvironment(PublishEnvironment);
const bus = eventBus(eventBridgeClient(), environment.EVENT_BUS, (reason) =>
  logger.warn('the bus did not take entries, which will be repeated', { reason }),
);

/** Takes inserts of the outbox's stream. What the bus did not take is reported, and the batch is tried again from there on. */
export const handler = middy<DynamoDBStreamEvent, DynamoDBBatchResponse>()
  .use(logContext(logger))
  .handler(async ({ Records }: DynamoDBStreamEvent) => {
    const sequences = new Map<BusEvent, string>();
    for (const { dynamodb } of Records) {
      const sequence = dynamodb?.SequenceNumber ?? '';
      try {
        // The types of Lambda's events and of the SDK name the same shape differently.
        const told = toldBy(rowOf(dynamodb?.NewImage as Record<string, AttributeValue>));
        if (told) sequences.set(told, sequence);
      } catch (error) {
        logger.error('a stream record is no entry of the outbox and is given up', {
          sequence,
          reason: String(error),
        });
        countOne(ABANDONED_ENTRIES);
      }
    }
    const refused = (await bus.put([...sequences.keys()])).map((event) => sequences.get(event) ?? '');
    return { batchItemFailures: refused.map((itemIdentifier) => ({ itemIdentifier })) };
  });
