import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import middy from '@middy/core';
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import type { Owed } from '../domain/redelivery.ts';
import { fanOut } from '../engine/fan-out.ts';
import { documentClient } from '../platform/clients/dynamodb.ts';
import { queueClient } from '../platform/clients/sqs.ts';
import { FanOutEnvironment, fanOutLanes, readEnvironment } from '../platform/config.ts';
import { deliveryQueues } from '../platform/delivery-queues.ts';
import { logger } from '../platform/logger.ts';
import { ABANDONED_ENTRIES } from '../platform/metric-names.ts';
import { countOne } from '../platform/metrics.ts';
import { logContext } from '../platform/pipeline/worker.ts';
import { standings } from '../platform/standings.ts';
import { deliveryStore } from '../store/deliveries.ts';
import { endpointStore } from '../store/endpoints.ts';
import { standingOf } from '../store/organizations.ts';
import { owedBy } from '../store/outbox.ts';
import { rowOf } from '../store/stream-rows.ts';

const environment = readEnvironment(FanOutEnvironment);
const client = documentClient();
const service = { client, name: environment.SERVICE_TABLE };
const now = () => new Date();

const run = fanOut({
  subscribers: endpointStore(service),
  standings: standings(standingOf(service)),
  deliveries: deliveryStore({ client, name: environment.DELIVERIES_TABLE }),
  queues: deliveryQueues(queueClient(), fanOutLanes(environment), now),
  log: logger,
  now,
});

/** Takes inserts of the outbox's stream. What failed is reported, and the batch is tried again from there on. */
export const handler = middy<DynamoDBStreamEvent, DynamoDBBatchResponse>()
  .use(logContext(logger))
  .handler(async ({ Records }: DynamoDBStreamEvent) => {
    const sequences = new Map<Owed, string>();
    for (const { dynamodb } of Records) {
      const sequence = dynamodb?.SequenceNumber ?? '';
      try {
        // The types of Lambda's events and of the SDK name the same shape differently.
        const owed = owedBy(rowOf(dynamodb?.NewImage as Record<string, AttributeValue>));
        if (owed) sequences.set(owed, sequence);
      } catch (error) {
        // Repeating it would hold up what comes after it in its shard, and change nothing.
        logger.error('a stream record is no entry of the outbox and is given up', {
          sequence,
          reason: String(error),
        });
        countOne(ABANDONED_ENTRIES);
      }
    }
    const failed = (await run([...sequences.keys()])).map((owed) => sequences.get(owed) ?? '');
    return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
  });
