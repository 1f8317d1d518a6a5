import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ResourceNotFoundException,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import * as z from 'zod/mini';
import { EventId, type OrgId, parseCreationTime } from '../aws/ids.ts';
import { Defect } from '../aws/logger.ts';
import { get, parseRow, type Table, toExpiry } from '../aws/table.ts';
import { buildAddition, type Change } from '../aws/transaction.ts';
import { BusEvent, type Notice, toBusEvent } from '../events/bus.ts';
import { type DiscardedRecords, type EntryKey, EVENT_DAYS, OutboxEvent } from '../events/events.ts';
import { buildSandboxMark, keys } from '../tenancy/keys.ts';
import type { DeliveryMessage } from './delivery.ts';
import { type OutboxWork, RedeliveryOrder } from './redelivery.ts';

const toEntry = (event: OutboxEvent) => ({
  ...keys.event(event, event.id),
  ...buildSandboxMark(event),
  ...event,
  expiresAt: toExpiry(new Date(event.createdAt), EVENT_DAYS),
});

/** Work items and events, written in the transaction that causes them. The table's stream delivers them. */
export function outboxStore(outbox: Table) {
  return {
    find: ({ pk, sk }: EntryKey): Promise<Record<string, unknown> | undefined> => get(outbox, { pk, sk }),

    append(event: OutboxEvent): Change {
      return buildAddition(outbox, toEntry(event));
    },

    /**
     * Adds the work item that sends the message of a delivery added or made due in the same transaction.
     * @param retryAfter attempts of a delivery that is made due; refused as `exists` when that was done
     * before
     */
    appendRedelivery(deliveryMessage: DeliveryMessage, retryAfter?: number): Change {
      const order: RedeliveryOrder = {
        kind: 'redelivery',
        deliveryMessage,
        ...(retryAfter === undefined ? {} : { retryAfter }),
      };
      return buildAddition(outbox, {
        ...getWorkKey(order),
        ...buildSandboxMark(deliveryMessage),
        ...order,
        expiresAt: toExpiry(parseCreationTime(deliveryMessage.id), EVENT_DAYS),
      });
    },

    /** Adds an event for the service's own workers; refused as `exists` when it was added before. */
    appendNotice: (notice: Notice): Change => appendNotice(outbox, notice),
  };
}

export const appendNotice = (outbox: Pick<Table, 'name'>, notice: Notice): Change =>
  buildAddition(outbox, {
    ...keys.notice(notice.id),
    ...buildSandboxMark(notice),
    ...notice,
    expiresAt: toExpiry(new Date(notice.createdAt), EVENT_DAYS),
  });

/** Events have no `kind`. */
const Entry = z.object({ kind: z.optional(z.string()) });

/**
 * Parses the work item of a row of the outbox or of its stream; undefined for rows without endpoint work.
 * @throws a zod error when the row is invalid
 */
export function parseOutboxRecord(row: unknown): OutboxWork | undefined {
  const { kind } = Entry.parse(row);
  if (kind === undefined) return { kind: 'event', event: OutboxEvent.parse(row) };
  return kind === 'redelivery' ? RedeliveryOrder.parse(row) : undefined;
}

/**
 * Parses the bus event of a row of the outbox or of its stream; undefined for other rows.
 * @throws a zod error when the row is invalid
 */
export function parseBusEvent(row: unknown): BusEvent | undefined {
  const { kind } = Entry.parse(row);
  if (kind === undefined) return toBusEvent(OutboxEvent.parse(row));
  return kind === 'notice' ? BusEvent.parse(row) : undefined;
}

/** Returns the key of the entry that has a work item. */
export const getWorkKey = (work: OutboxWork): EntryKey =>
  work.kind === 'event'
    ? keys.event(work.event, work.event.id)
    : keys.redelivery(work.deliveryMessage.id, work.retryAfter);

/** How the readers of the outbox name entries that they failed on. */
export const WORK = {
  getKey: getWorkKey,
  getOrganization: (work: OutboxWork): OrgId =>
    work.kind === 'event' ? work.event.orgId : work.deliveryMessage.orgId,
};
export const PUBLICATION = {
  getKey: (event: BusEvent): EntryKey => getBusEventKey(event),
  getOrganization: ({ orgId }: BusEvent): OrgId => orgId,
};

/** Returns the key of the entry that a bus event was built from. */
export function getBusEventKey(event: BusEvent): EntryKey {
  const { success, data: id } = EventId.safeParse(event.id);
  return success ? keys.event(event, id) : keys.notice(event.id);
}

/** Empty reads are normal; this many in a row mean that the shard ended before the range. */
const MAX_EMPTY_READS = 20;

/**
 * Reads the inserted rows of a part of a stream, for records that an event source mapping discarded.
 * @returns undefined when the stream no longer has them, after 24 hours
 * @throws Error when only some of them could be read
 */
export function streamReader(client: DynamoDBStreamsClient) {
  return async ({
    streamArn,
    shardId,
    startSequenceNumber,
    endSequenceNumber,
  }: DiscardedRecords): Promise<Record<string, unknown>[] | undefined> => {
    const end = BigInt(endSequenceNumber);
    let hasStarted = false;
    const rows: Record<string, unknown>[] = [];
    try {
      let { ShardIterator: iterator } = await client.send(
        new GetShardIteratorCommand({
          StreamArn: streamArn,
          ShardId: shardId,
          ShardIteratorType: 'AT_SEQUENCE_NUMBER',
          SequenceNumber: startSequenceNumber,
        }),
      );
      for (let empty = 0; iterator !== undefined && empty < MAX_EMPTY_READS; ) {
        const { Records = [], NextShardIterator } = await client.send(
          new GetRecordsCommand({ ShardIterator: iterator }),
        );
        for (const { eventName, dynamodb } of Records) {
          const sequence = BigInt(dynamodb?.SequenceNumber ?? 0);
          // A stream may continue after trimmed records.
          if (!hasStarted && sequence > BigInt(startSequenceNumber)) return undefined;
          hasStarted = true;
          if (sequence > end) return rows;
          // The two clients have separate types for one shape.
          if (eventName === 'INSERT')
            rows.push(parseRow(dynamodb?.NewImage as Record<string, AttributeValue>));
          if (sequence === end) return rows;
        }
        empty = Records.length === 0 ? empty + 1 : 0;
        iterator = NextShardIterator;
      }
      if (!hasStarted) return undefined;
      // A shard that ended has no more records; after empty reads there may be more.
      if (iterator === undefined) return rows;
      throw new Defect(`${shardId} was not read to the end of the range`);
    } catch (error) {
      if (error instanceof TrimmedDataAccessException || error instanceof ResourceNotFoundException)
        return undefined;
      throw error;
    }
  };
}

/**
 * Reads outbox entries by stream records or by keys, to recover records that the stream does not repeat.
 * @param read parses a row; undefined when it is for another reader
 */
export function outboxEntries<T>(
  outbox: Table,
  streams: DynamoDBStreamsClient,
  read: (row: Record<string, unknown>) => T | undefined,
) {
  const { find } = outboxStore(outbox);
  const readStream = streamReader(streams);
  return {
    /**
     * Undefined when the stream no longer has them, after a day.
     * @throws as `streamReader`
     */
    read: async (records: DiscardedRecords): Promise<T[] | undefined> =>
      (await readStream(records))?.flatMap((row) => read(row) ?? []),

    /** Undefined when there is no such entry, or it is for another reader. */
    async find(key: EntryKey): Promise<T | undefined> {
      const row = await find(key);
      return row && read(row);
    },
  };
}
