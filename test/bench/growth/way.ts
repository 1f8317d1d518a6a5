import { DeleteMessageBatchCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { dispatcher } from '../../../functions/delivery/dispatch.ts';
import { dueIndex } from '../../../functions/delivery/due-index.ts';
import { fanOut } from '../../../functions/delivery/fan-out.ts';
import type { Lane } from '../../../functions/delivery/lanes.ts';
import { ledgerStore } from '../../../functions/delivery/ledger.ts';
import { processDeliveryStream } from '../../../functions/delivery/ledger-updates.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { deliveryQueues, parseDeliveryMessage } from '../../../functions/delivery/queues.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import { buildEvent } from '../../../functions/events/events.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { organizationStates, readOrganizationState } from '../../../functions/tenancy/organizations.ts';
import { noMeasures } from '../../doubles/no-measures.ts';
import type { Place } from './place.ts';

const GRACE_SECONDS = 900;
const ATTEMPT_SECONDS = 10;
const LEASE_SECONDS = 30;
const RETRY = { baseSeconds: 30, capSeconds: 3600, maxAttempts: 8 };
/** The limits of one poll of a queue, and of a batch. */
const BATCH = 10;

/**
 * Delivers one event from its commit to the ends of its deliveries and their counts, with the engine's own
 * code over the real stores and queues, step by step in this process. Receivers answer at once.
 * @returns delivers one event of an organization to all its endpoints, and returns their number
 * @throws Error when a delivery does not succeed
 */
export function wayOf({ client, sqs, tables, queues: urls }: Place) {
  const now = () => new Date();
  const log = () => undefined;
  const added: Delivery[] = [];
  const queues = deliveryQueues(sqs, (lane: Lane) => urls[lane], now);
  const organizations = organizationStates(readOrganizationState(tables.service));
  const endpoints = endpointStore(tables.service);
  const deliveries = deliveryStore(tables.deliveries);
  const outbox = outboxStore(tables.outbox);
  const commit = committer(client);
  const spread = fanOut({
    subscribers: endpoints,
    organizations: organizations,
    deliveries: {
      async add(delivery) {
        added.push(delivery);
        return deliveries.add(delivery);
      },
    },
    queues,
    log,
    now,
  });
  const attempt = dispatcher(
    // No endpoint has a limit.
    { ...tables, rates: tables.service },
    {
      organizations,
      queues,
      prepareSend: async () => async () => ({ status: 204 }),
      measures: noMeasures,
      log,
      now,
      wait: async () => undefined,
    },
    {
      retry: RETRY,
      leaseSeconds: LEASE_SECONDS,
      attemptSeconds: ATTEMPT_SECONDS,
      graceSeconds: GRACE_SECONDS,
    },
  );
  const count = processDeliveryStream(
    {
      due: dueIndex(tables.deliveries),
      ledger: ledgerStore(tables.ledger),
      organizations: organizations,
      log,
      now,
    },
    { graceSeconds: GRACE_SECONDS },
  );
  const shard = crypto.randomUUID();
  let sequence = 1;

  async function attemptSome(): Promise<number> {
    const QueueUrl = urls.fresh;
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: BATCH }),
    );
    const received = Messages.flatMap(({ Body = '', MessageId = '', ReceiptHandle: receiptHandle = '' }) => {
      const message = parseDeliveryMessage(Body, MessageId);
      return message === undefined ? [] : [{ message, receiptHandle }];
    });
    if (received.length === 0) throw new Error('the queue has no delivery messages');
    const staying = await attempt('fresh', received);
    if (staying.length > 0) throw new Error('a delivery did not succeed');
    const Entries = received.map(({ receiptHandle }, index) => ({
      Id: String(index),
      ReceiptHandle: receiptHandle,
    }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    return received.length;
  }

  return async (orgId: OrgId): Promise<number> => {
    const event = buildEvent(
      'message.received',
      { conversationId: newId('cnv', now()), messageId: newId('msg', now()), role: 'user' },
      { tenant: { orgId, generation: 0 }, now: now() },
    );
    await commit([outbox.append(event)]);
    added.length = 0;
    const left = await spread([{ kind: 'event', event }]);
    if (left.length > 0 || added.length === 0) throw new Error('the event was not fanned out');
    for (let done = 0; done < added.length; ) done += await attemptSome();
    const changes = added.flatMap((delivery) =>
      (['added', 'ended'] as const).map((kind) => ({
        kind,
        delivery: kind === 'added' ? delivery : { ...delivery, status: 'succeeded' as const, attempts: 1 },
        sequence: String(sequence++),
      })),
    );
    await count(shard, changes);
    return added.length;
  };
}
