import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import middy from '@middy/core';
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import type { Owed } from '../domain/redelivery.ts';
import { fanOut } from '../engine/fan-out.ts';
import { documentClient } from '../platform/clients/dynamodb.ts';
import { queueClient } from '../platform/clients/sqs.ts';
import { FanOutEnvironment, readEnvironment } from '../platform/config.ts';
import { deliveryQueue } from '../platform/delivery-queue.ts';
import { logger } from '../platform/logger.ts';
import { logContext } from '../platform/pipeline/worker.ts';
import { deliveryStore } from '../store/deliveries.ts';
import { endpointStore } from '../store/endpoints.ts';
import { owedBy } from '../store/outbox.ts';
import { committer } from '../store/transaction.ts';

const environment = readEnvironment(FanOutEnvironment);
const client = documentClient();
const service = { client, name: environment.SERVICE_TABLE };

const run = fanOut({
  subscribers: endpointStore(service),
  deliveries: deliveryStore({ client, name: environment.DELIVERIES_TABLE }, service, committer(client)),
  queue: deliveryQueue(queueClient(), environment.DELIVERY_QUEUE),
  log: logger,
  now: () => new Date(),
});

/** Takes inserts of the outbox's stream. What failed is reported, and the batch is tried again from there on. */
export const handler = middy<DynamoDBStreamEvent, DynamoDBBatchResponse>()
  .use(logContext(logger))
  .handler(async ({ Records }: DynamoDBStreamEvent) => {
    const sequences = new Map<Owed, string>();
    const failed: string[] = [];
    for (const { dynamodb } of Records) {
      const sequence = dynamodb?.SequenceNumber ?? '';
      try {
        // The types of Lambda's events and of the SDK name the same shape differently.
        const image = (dynamodb?.NewImage ?? {}) as Record<string, AttributeValue>;
        sequences.set(owedBy(unmarshall(image)), sequence);
      } catch (error) {
        logger.error('a stream record is no entry of the outbox', { sequence, reason: String(error) });
        failed.push(sequence);
      }
    }
    for (const owed of await run([...sequences.keys()])) failed.push(sequences.get(owed) ?? '');
    return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
  });
