import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { v7 } from 'uuid';
import { mapConcurrently } from '../../../functions/aws/concurrency.ts';
import { deriveDeliveryId, newId, type OrgId, type ReceiverId } from '../../../functions/aws/ids.ts';
import type { Change } from '../../../functions/aws/transaction.ts';
import { type Delivery, toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { anEndpoint } from '../../builders.ts';
import { type BulkRow, putInBulk } from './bulk.ts';
import type { Place } from './place.ts';

/** SQS's limit for one request, and concurrent requests. */
const MESSAGES = 10;
const AT_ONCE = 8;
/** The longest delay of an SQS message. */
const HELD_SECONDS = 900;
const MS_PER_DAY = 86_400_000;

type Progress = (done: number) => void;

/**
 * Organizations with endpoints that accept every message.
 * @returns their ids
 */
export async function seedOrganizations(
  place: Place,
  { organizations, endpoints }: { organizations: number; endpoints: number },
  progress: Progress,
): Promise<OrgId[]> {
  const now = new Date();
  const store = endpointStore(place.tables.service);
  const all = Array.from({ length: organizations }, () => newId('org', now));
  function* rows(): Generator<BulkRow> {
    for (const orgId of all) {
      yield {
        ...keys.organization(orgId),
        id: orgId,
        name: 'Example',
        environment: 'live',
        tier: 'scale',
        createdAt: now.toISOString(),
      };
      for (let count = 0; count < endpoints; count += 1)
        yield rowOf(store.add(anEndpoint({ id: newId('whk', now), orgId, events: ['message.received'] })));
    }
  }
  await write(place, 'service', rows(), progress);
  return all;
}

/** Deliveries of an endpoint that have ended, over the last month. */
export async function seedHistory(
  place: Place,
  { orgId, endpoint, count }: { orgId: OrgId; endpoint: ReceiverId; count: number },
  progress: Progress,
): Promise<void> {
  const now = Date.now();
  const store = deliveryStore(place.tables.deliveries);
  function* rows(): Generator<BulkRow> {
    for (let number = 0; number < count; number += 1)
      yield rowOf([
        store.adding(succeeded(orgId, endpoint, new Date(now - ((number * 29) / count) * MS_PER_DAY))),
      ]);
  }
  await write(place, 'deliveries', rows(), progress);
}

/** Waiting retries: each is in the due index, with a delayed message in the retry queue. */
export async function seedBacklog(
  place: Place,
  orgId: OrgId,
  count: number,
  progress: Progress,
): Promise<void> {
  const now = new Date();
  const dueAt = new Date(now.getTime() + HELD_SECONDS * 1000).toISOString();
  const endpoint = newId('whk', now);
  const all = Array.from(
    { length: count },
    (): Delivery => ({
      ...succeeded(orgId, endpoint, now),
      status: 'retrying',
      nextRetryAt: dueAt,
      lastError: 'the receiver answered 503',
    }),
  );
  const store = deliveryStore(place.tables.deliveries);
  function* rows(): Generator<BulkRow> {
    for (const delivery of all)
      yield {
        ...rowOf([store.adding(delivery)]),
        dueIn: keys.dueOf('watched', delivery.id),
        dueKey: keys.dueKey(orgId, dueAt),
      };
  }
  await write(place, 'deliveries', rows(), progress);
  const batches = Array.from({ length: Math.ceil(count / MESSAGES) }, (_, index) =>
    all.slice(index * MESSAGES, (index + 1) * MESSAGES),
  );
  await mapConcurrently(batches, AT_ONCE, (batch) =>
    place.sqs.send(
      new SendMessageBatchCommand({
        QueueUrl: place.queues.retry,
        Entries: batch.map((delivery, index) => ({
          Id: String(index),
          MessageBody: JSON.stringify(toDeliveryMessage(delivery)),
          MessageGroupId: delivery.orgId,
          DelaySeconds: HELD_SECONDS,
        })),
      }),
    ),
  );
}

/** A delivery whose first attempt succeeded. */
export function succeeded(orgId: OrgId, webhookId: ReceiverId, at: Date): Delivery {
  const eventId = `evt_${v7({ msecs: at.getTime() }).replaceAll('-', '')}` as const;
  return {
    id: deriveDeliveryId(eventId, webhookId),
    orgId,
    generation: 0,
    webhookId,
    eventId,
    eventType: 'message.received',
    status: 'succeeded',
    attempts: 1,
    attemptLog: [{ number: 1, startedAt: at.toISOString(), durationMs: 40, status: 200 }],
    createdAt: at.toISOString(),
    terminalAt: at.toISOString(),
  };
}

/** The row that a store would put; of several changes, the put. */
function rowOf(changes: readonly Change[]): BulkRow {
  const item = changes.map(({ write: { Put } }) => Put?.Item).find((found) => found !== undefined);
  if (item === undefined) throw new Error('the changes put no row');
  return item as BulkRow;
}

async function write(
  { client, file }: Place,
  table: string,
  rows: Iterable<BulkRow>,
  progress: Progress,
): Promise<void> {
  let last: BulkRow | undefined;
  function* noted(): Generator<BulkRow> {
    for (const row of rows) {
      last = row;
      yield row;
    }
  }
  putInBulk(file, table, noted(), progress);
  if (last === undefined) return;
  const Key = { pk: last.pk, sk: last.sk };
  const { Item } = await client.send(new GetCommand({ TableName: table, Key }));
  if (Item?.sk !== last.sk) throw new Error(`the engine does not find what was put into ${table}`);
}
