import { setTimeout as sleep } from 'node:timers/promises';
import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import * as z from 'zod/mini';
import { openTables, queueClient } from '../aws/clients.ts';
import {
  DecimalNumber,
  NonEmptyText,
  outboundUserAgent,
  reachableReceivers,
  readEnvironment,
  SenderEnvironment,
} from '../aws/config.ts';
import { getCurrentVersion, keyringSource, secretValue } from '../aws/keyrings.ts';
import { Defect, invocation, logger } from '../aws/logger.ts';
import { deliveryMetrics } from '../aws/metrics.ts';
import { dispatcher } from '../delivery/dispatch.ts';
import { DeliveryQueues, LANE_TABLE, LANES, type Lane } from '../delivery/lanes.ts';
import { receiverClient } from '../delivery/outbound/client.ts';
import { deliveryQueues, parseDeliveryMessage, queueUrls } from '../delivery/queues.ts';
import { deriveAttemptClocks, retryPolicy } from '../delivery/timing.ts';
import { simulatedReceiver, webhookSender } from '../delivery/webhook-sender.ts';
import { blockedHostStore, blockedHosts } from '../receivers/receiver-url.ts';
import { gate } from '../tenancy/gate.ts';
import { organizationStates, readOrganizationState } from '../tenancy/organizations.ts';

export const DispatchEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  OUTBOX_TABLE: NonEmptyText,
  DELIVERIES_TABLE: NonEmptyText,
  RATE_TABLE: NonEmptyText,
  ...DeliveryQueues,
  SIGNING_KEYS: NonEmptyText,
  RETRY_BASE_SECONDS: DecimalNumber,
  RETRY_CAP_SECONDS: DecimalNumber,
  ATTEMPT_TIMEOUT_SECONDS: DecimalNumber,
  /** Seconds past due after which a delivery's message counts as lost. */
  GRACE_SECONDS: DecimalNumber,
});

const environment = readEnvironment(DispatchEnvironment);
const clocks = deriveAttemptClocks(environment.ATTEMPT_TIMEOUT_SECONDS);
const tables = openTables(environment);
const now = () => new Date();
const getQueueUrl = queueUrls(LANE_TABLE, environment);
const organizations = organizationStates(readOrganizationState(tables.service));
const hosts = blockedHosts(blockedHostStore(tables.service).all);
const receivers = {
  policy: { ...reachableReceivers(), blocks: hosts.blocks },
  timeoutMs: clocks.attempt * 1000,
};
const signingKeys = keyringSource(secretValue(environment.SIGNING_KEYS));

const run = dispatcher(
  tables,
  {
    organizations,
    queues: deliveryQueues(queueClient(), getQueueUrl, now),
    prepareSend: webhookSender({
      gate: gate(organizations.of),
      outbound: receiverClient(receivers),
      simulated: simulatedReceiver(receivers),
      signingKeys,
      refreshBlocks: hosts.refresh,
      userAgent: outboundUserAgent('ConversationService-Webhooks', readEnvironment(SenderEnvironment)),
      now,
    }),
    measures: deliveryMetrics,
    log: logger.log,
    now,
    wait: (seconds) => sleep(seconds * 1000),
  },
  {
    retry: retryPolicy(environment),
    leaseSeconds: clocks.lease,
    attemptSeconds: clocks.attempt,
    graceSeconds: environment.GRACE_SECONDS,
  },
);

/**
 * Processes messages of a delivery queue, all of a batch at once. Messages reported as failed stay in the
 * queue; the others are deleted.
 */
export const handler = middy<SQSEvent, SQSBatchResponse>()
  .use(invocation())
  .handler(async ({ Records }: SQSEvent) => {
    // A cold start reads all at once; an attempt waits for both, and reports their errors.
    signingKeys(getCurrentVersion).catch(() => undefined);
    hosts.refresh().catch(() => undefined);
    const messages = Records.flatMap(({ messageId, body, receiptHandle }) => {
      const deliveryMessage = parseDeliveryMessage(body, messageId);
      return deliveryMessage === undefined ? [] : [{ message: deliveryMessage, receiptHandle, messageId }];
    });
    const staying = await run(getLane(Records), messages);
    const receipts = new Set(staying.map(({ receiptHandle }) => receiptHandle));
    return {
      batchItemFailures: messages
        .filter(({ receiptHandle }) => receipts.has(receiptHandle))
        .map(({ messageId }) => ({ itemIdentifier: messageId })),
    };
  });

/** A batch comes from one queue, whose name ends both its ARN and its URL. */
function getLane([record]: readonly SQSRecord[]): Lane {
  const name = record?.eventSourceARN.split(':').at(-1);
  const lane = LANES.find((candidate) => getQueueUrl(candidate).split('/').at(-1) === name);
  if (lane === undefined) throw new Defect(`${name} is not a delivery queue`);
  return lane;
}
