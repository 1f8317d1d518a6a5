import { SendMessageCommand } from '@aws-sdk/client-sqs';
import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { MAX_DELAY_SECONDS } from '../domain/backoff.ts';
import type { Owed } from '../domain/redelivery.ts';
import { type DeadFanOut, deadFanOut } from '../engine/dead-letters.ts';
import { fanOut } from '../engine/fan-out.ts';
import { documentClient } from '../platform/clients/dynamodb.ts';
import { streamsClient } from '../platform/clients/dynamodb-streams.ts';
import { queueClient } from '../platform/clients/sqs.ts';
import { DeadFanOutsEnvironment, fanOutLanes, readEnvironment } from '../platform/config.ts';
import { deliveryQueues } from '../platform/delivery-queues.ts';
import { logger } from '../platform/logger.ts';
import { ABANDONED_ENTRIES } from '../platform/metric-names.ts';
import { countOne, gauge } from '../platform/metrics.ts';
import { logContext } from '../platform/pipeline/worker.ts';
import { standings } from '../platform/standings.ts';
import { deliveryStore } from '../store/deliveries.ts';
import { endpointStore } from '../store/endpoints.ts';
import { standingOf } from '../store/organizations.ts';
import { outboxStore, owedBy } from '../store/outbox.ts';
import { streamReader } from '../store/stream.ts';

const environment = readEnvironment(DeadFanOutsEnvironment);
const client = documentClient();
const service = { client, name: environment.SERVICE_TABLE };
const sqs = queueClient();
const readStream = streamReader(streamsClient());
const outbox = outboxStore({ client, name: environment.OUTBOX_TABLE });
const now = () => new Date();

const deal = deadFanOut({
  stream: {
    async read(records) {
      const rows = await readStream(records);
      return rows?.flatMap((row) => readable(row) ?? []);
    },
  },
  outbox: {
    async find(id) {
      const row = await outbox.find(id);
      return row && readable(row);
    },
  },
  fanOut: fanOut({
    subscribers: endpointStore(service),
    standings: standings(standingOf(service)),
    deliveries: deliveryStore({ client, name: environment.DELIVERIES_TABLE }),
    queues: deliveryQueues(sqs, fanOutLanes(environment), now),
    log: logger,
    now,
  }),
  async postpone(ids) {
    const body: DeadFanOut = { kind: 'entries', ids };
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: environment.DEAD_FAN_OUTS,
        MessageBody: JSON.stringify(body),
        // The longest that there is: what failed once more is not healed in a moment.
        DelaySeconds: MAX_DELAY_SECONDS,
      }),
    );
  },
  log: logger,
  now,
});

const text = z.string();
/** What Lambda sends to the failure destination of a stream's mapping, and what this function sends itself. */
const Letter = z.union([
  z.pipe(
    z.object({
      DDBStreamBatchInfo: z.object({
        streamArn: text,
        shardId: text,
        startSequenceNumber: text,
        endSequenceNumber: text,
      }),
    }),
    z.transform(({ DDBStreamBatchInfo: records }): DeadFanOut => ({ kind: 'records', records })),
  ),
  z.object({ kind: z.literal('entries'), ids: z.array(text) }),
]);

/** Takes the dead letters of the outbox's stream. */
export const handler = middy<SQSEvent, SQSBatchResponse>()
  .use(logContext(logger))
  .handler(async ({ Records }: SQSEvent) => {
    const kept = [];
    for (const { body, messageId } of Records) {
      const letter = parse(body, messageId);
      if (letter === undefined) continue;
      try {
        const abandoned = await deal(letter);
        if (abandoned > 0) gauge(ABANDONED_ENTRIES, abandoned);
      } catch (error) {
        logger.error('a dead letter of the fan-out stays', { messageId, reason: String(error) });
        kept.push({ itemIdentifier: messageId });
      }
    }
    return { batchItemFailures: kept };
  });

/** What a letter says. One that nobody understands would come back for two weeks: it is told in full and dropped. */
function parse(body: string, messageId: string): DeadFanOut | undefined {
  try {
    return Letter.parse(JSON.parse(body));
  } catch (error) {
    logger.error('a dead letter of the fan-out is not understood and given up', {
      messageId,
      body,
      reason: String(error),
    });
    countOne(ABANDONED_ENTRIES);
    return undefined;
  }
}

function readable(row: Record<string, unknown>): Owed | undefined {
  try {
    return owedBy(row);
  } catch (error) {
    logger.error('an entry of the outbox cannot be read and is given up', {
      id: row.pk,
      reason: String(error),
    });
    countOne(ABANDONED_ENTRIES);
    return undefined;
  }
}
