import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ResourceNotFoundException,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { BusEvent, buildDisabledEvent, type Notice, toBusEvent } from '../domain/bus.ts';
import type { DeliveryMessage } from '../domain/delivery.ts';
import { DisablingNotice } from '../domain/endpoint.ts';
import { OutboxEvent } from '../domain/events.ts';
import { parseCreationTime } from '../domain/ids.ts';
import { Defect } from '../domain/problem.ts';
import { EVENT_DAYS, type OutboxWork, RedeliveryOrder } from '../domain/redelivery.ts';
import { keys, sandboxMark } from './keys.ts';
import { parseRow, type Table, toExpiry } from './table.ts';
import { buildAddition, type Change } from './transaction.ts';

const toEntry = (event: OutboxEvent) => ({
  ...keys.event(event.id),
  ...sandboxMark(event),
  ...event,
  expiresAt: toExpiry(new Date(event.createdAt), EVENT_DAYS),
});

/** What is owed, written in the transaction of its cause. The table's stream takes it on from there. */
export function outboxStore(outbox: Table) {
  return {
    /** The row of an entry, whatever it owes. */
    async find(id: string): Promise<Record<string, unknown> | undefined> {
      const { Item } = await outbox.client.send(
        new GetCommand({ TableName: outbox.name, Key: { pk: id }, ConsistentRead: true }),
      );
      return Item;
    },

    append(event: OutboxEvent): Change {
      return buildAddition(outbox, toEntry(event));
    },

    /** Orders the reminder of a delivery that the same transaction adds. */
    appendRedelivery(deliveryMessage: DeliveryMessage): Change {
      const order: RedeliveryOrder = { kind: 'redelivery', reminder: deliveryMessage };
      return buildAddition(outbox, {
        ...keys.redelivery(deliveryMessage.id),
        ...sandboxMark(deliveryMessage),
        ...order,
        expiresAt: toExpiry(parseCreationTime(deliveryMessage.id), EVENT_DAYS),
      });
    },

    /**
     * Tells the service's own workers what the same transaction does; refused as `exists` when they are told
     * already.
     */
    appendNotice(notice: Notice): Change {
      return buildAddition(outbox, {
        ...keys.notice(notice.id),
        ...sandboxMark(notice),
        ...notice,
        expiresAt: toExpiry(new Date(notice.createdAt), EVENT_DAYS),
      });
    },
  };
}

/** Orders that the admins be told of a disabling, in the transaction that disables. */
export const disablingNotice = (outbox: Pick<Table, 'name'>, notice: DisablingNotice): Change =>
  buildAddition(outbox, {
    ...keys.disablingNotice(notice.webhookId, notice.disabledAt),
    ...sandboxMark(notice),
    ...notice,
    expiresAt: toExpiry(new Date(notice.disabledAt), EVENT_DAYS),
  });

/** The event that a row of the outbox, or of its stream, holds. @throws a zod error when it holds none */
export const parseEvent = (row: unknown): OutboxEvent => OutboxEvent.parse(row);

/** Events have no kind: they are what the outbox is for. */
const Entry = z.object({ pk: z.optional(z.string()), kind: z.optional(z.string()) });

/**
 * What a row of the outbox, or of its stream, owes to endpoints; nothing when it is an order for somebody
 * else.
 * @throws a zod error when it should be an event or an order and is none
 */
export function parseOutboxRecord(row: unknown): OutboxWork | undefined {
  const { kind } = Entry.parse(row);
  if (kind === undefined) return { kind: 'event', event: parseEvent(row) };
  return kind === 'redelivery' ? RedeliveryOrder.parse(row) : undefined;
}

/**
 * What a row of the outbox, or of its stream, tells on the bus; nothing when it only orders something.
 * @throws a zod error when it should tell something and is not readable
 */
export function parseBusEvent(row: unknown): BusEvent | undefined {
  const { pk, kind } = Entry.parse(row);
  if (kind === undefined) return toBusEvent(parseEvent(row));
  // Under its key, whatever that is: it is found again by it.
  if (kind === 'endpoint-disabled') return buildDisabledEvent(DisablingNotice.parse(row), String(pk));
  return kind === 'notice' ? BusEvent.parse(row) : undefined;
}

/** A part of a shard, its ends included. */
export interface StreamRange {
  streamArn: string;
  shardId: string;
  startSequenceNumber: string;
  endSequenceNumber: string;
}

/**
 * Reads that bring nothing are possible anywhere in a shard; so many in a row mean that it ended before the
 * range did.
 */
const MOST_EMPTY_READS = 20;

/**
 * Rows that a part of a stream says were inserted. For records that a mapping gave up: the mapping itself
 * reads on.
 * @returns undefined when the stream no longer has them, after 24 hours
 * @throws Error when only a part of them could be read
 */
export function streamReader(client: DynamoDBStreamsClient) {
  return async ({
    streamArn,
    shardId,
    startSequenceNumber,
    endSequenceNumber,
  }: StreamRange): Promise<Record<string, unknown>[] | undefined> => {
    const end = BigInt(endSequenceNumber);
    let begun = false;
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
      for (let empty = 0; iterator !== undefined && empty < MOST_EMPTY_READS; ) {
        const { Records = [], NextShardIterator } = await client.send(
          new GetRecordsCommand({ ShardIterator: iterator }),
        );
        for (const { eventName, dynamodb } of Records) {
          const sequence = BigInt(dynamodb?.SequenceNumber ?? 0);
          // A stream may read on behind what it has trimmed.
          if (!begun && sequence > BigInt(startSequenceNumber)) return undefined;
          begun = true;
          if (sequence > end) return rows;
          // The two clients have types of their own for one shape.
          if (eventName === 'INSERT')
            rows.push(parseRow(dynamodb?.NewImage as Record<string, AttributeValue>));
          if (sequence === end) return rows;
        }
        empty = Records.length === 0 ? empty + 1 : 0;
        iterator = NextShardIterator;
      }
      if (!begun) return undefined;
      // Where the shard ends, there is nothing more. Where reads only brought nothing, there may be.
      if (iterator === undefined) return rows;
      throw new Defect(`${shardId} was not read to the end of what was asked for`);
    } catch (error) {
      if (error instanceof TrimmedDataAccessException || error instanceof ResourceNotFoundException)
        return undefined;
      throw error;
    }
  };
}

/**
 * Entries of the outbox for one of its readers: by the records that told of them, and by their keys. For what
 * the stream itself does not repeat.
 * @param read what a row is for the reader; undefined when it is for others
 */
export function outboxEntries<T>(
  outbox: Table,
  streams: DynamoDBStreamsClient,
  read: (row: Record<string, unknown>) => T | undefined,
) {
  const { find } = outboxStore(outbox);
  const readStream = streamReader(streams);
  return {
    stream: {
      /** Undefined when the stream has forgotten them. @throws as `streamReader` */
      read: async (records: StreamRange): Promise<T[] | undefined> =>
        (await readStream(records))?.flatMap((row) => read(row) ?? []),
    },
    outbox: {
      async find(id: string): Promise<T | undefined> {
        const row = await find(id);
        return row && read(row);
      },
    },
  };
}
