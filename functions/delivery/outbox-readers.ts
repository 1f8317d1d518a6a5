import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ResourceNotFoundException,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import type { SQSClient } from '@aws-sdk/client-sqs';
import middy from '@middy/core';
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { queueClient, streamsClient } from '../aws/clients.ts';
import type { Failure } from '../aws/concurrency.ts';
import type { Log } from '../aws/log-codes.ts';
import { Defect, invocation, logger } from '../aws/logger.ts';
import { ABANDONED_ENTRIES, count } from '../aws/metrics.ts';
import { parseRow, type Row, type Table } from '../aws/table.ts';
import { DeadLetter, type DiscardedRecords } from '../events/events.ts';
import { queueWorker } from '../events/worker.ts';
import { type EntryKind, outboxStore } from './outbox.ts';
import { sendBatches, setVisibility } from './queues.ts';
import { EXPIRY_SECONDS } from './timing.ts';

/**
 * Handler of a reader of the outbox's stream. Failed entries go to a queue of their own, so that the others
 * are processed once and their shard waits for none. The stream repeats only those that the queue did not
 * take, and what follows them.
 * @param handle returns the entries to retry
 * @param handOver sends entries to their queue
 */
export const outboxReader = <T extends object>(
  { parse }: Pick<EntryKind<T>, 'parse'>,
  handle: (batch: readonly T[]) => Promise<readonly T[]>,
  handOver: (failed: readonly T[]) => Promise<readonly Failure<T>[]>,
) =>
  middy<DynamoDBStreamEvent, DynamoDBBatchResponse>()
    .use(invocation())
    .handler(async ({ Records }: DynamoDBStreamEvent) => {
      const sequences = new Map<T, string>();
      for (const { dynamodb } of Records) {
        const sequence = dynamodb?.SequenceNumber ?? '';
        try {
          // Lambda's events and the SDK have separate types for one shape.
          const entry = parse(parseRow(dynamodb?.NewImage as Record<string, AttributeValue>));
          if (entry) sequences.set(entry, sequence);
        } catch (error) {
          // A retry would fail again and block the shard.
          logger.log('STREAM_RECORD_UNREADABLE', { sequence, error });
          count(ABANDONED_ENTRIES);
        }
      }
      const refused = await handOver(await handle([...sequences.keys()]));
      const [first] = refused;
      if (first !== undefined)
        logger.log('ENTRIES_NOT_HANDED_OVER', { entries: refused.length, error: first.error });
      const repeated = new Set(refused.map(({ item }) => item));
      // In the order of the records, because the order in which failures occur is left to chance.
      const batchItemFailures = [...sequences]
        .filter(([entry]) => repeated.has(entry))
        .map(([, itemIdentifier]) => ({ itemIdentifier }));
      return { batchItemFailures };
    });

/** Seconds until entries are retried: as many as they are old, so that a long trouble costs few. */
const RETRY_SECONDS = { least: 5, most: 900 };

/**
 * Sends entries that a reader failed on to their queue, which a function of its own reads: the keys of each
 * organization's entries in one message.
 * @param url of the queue
 */
export const failedEntries =
  <T>(client: SQSClient, url: string, { describe }: EntryKind<T>) =>
  async (entries: readonly T[]): Promise<Failure<T>[]> => {
    const letters = [...Map.groupBy(entries, (entry) => describe(entry).orgId)];
    const refused = await sendBatches(client, url, letters, ([orgId, own]) => ({
      body: JSON.stringify({
        kind: 'entries',
        keys: own.map((entry) => describe(entry).key),
      } satisfies DeadLetter),
      group: orgId,
      delay: RETRY_SECONDS.least,
    }));
    return refused.flatMap(({ item: [, own], error }) => own.map((item) => ({ item, error })));
  };

/**
 * Handler of the dead letters of the outbox's stream. A failed letter stays in the queue.
 * @param url of the queue, to which failed entries also go
 * @param handle returns the entries to retry
 */
export function deadLetterWorker<T>(
  kind: EntryKind<T>,
  { outbox, url, handle }: { outbox: Table; url: string; handle: DeadEntriesPorts<T>['handle'] },
) {
  const sqs = queueClient();
  const hide = setVisibility(sqs, url);
  const { find } = outboxStore(outbox);
  const readStream = streamReader(streamsClient());
  const handleLetter = processDeadEntries({
    async read(letter) {
      const rows =
        letter.kind === 'records'
          ? await readStream(letter.records)
          : await Promise.all(letter.keys.map((key) => find(key)));
      return rows?.flatMap((row) => (row && parseOrAbandon(kind, row)) ?? []);
    },
    handle,
    handOver: failedEntries(sqs, url, kind),
    describe: kind.describe,
    log: logger.log,
    now: () => new Date(),
  });
  return queueWorker(async ({ body, messageId, receiptHandle }) => {
    const letter = parseDeadLetter(body, messageId);
    if (letter === undefined) return 'done';
    try {
      const { abandoned, retryInSeconds } = await handleLetter(letter);
      count(ABANDONED_ENTRIES, abandoned);
      if (retryInSeconds === undefined) return 'done';
      await hide(receiptHandle, retryInSeconds);
    } catch (error) {
      logger.log('OUTBOX_LETTER_STAYS', { messageId, error });
    }
    return 'stays';
  });
}

/** Parses a row; reports and counts an unreadable one. */
function parseOrAbandon<T>({ parse }: EntryKind<T>, row: Row): T | undefined {
  try {
    return parse(row);
  } catch (error) {
    logger.log('OUTBOX_ENTRY_UNREADABLE', { id: String(row.pk), error });
    count(ABANDONED_ENTRIES);
    return undefined;
  }
}

/** An unparsable letter would return for two weeks: it is reported and dropped. */
function parseDeadLetter(body: string, messageId: string): DeadLetter | undefined {
  try {
    return DeadLetter.parse(JSON.parse(body));
  } catch (error) {
    logger.log('OUTBOX_LETTER_UNREADABLE', { messageId, bytes: Buffer.byteLength(body), error });
    count(ABANDONED_ENTRIES);
    return undefined;
  }
}

/** @typeParam T an entry as its reader parses it */
export interface DeadEntriesPorts<T> extends Pick<EntryKind<T>, 'describe'> {
  /** Reads the entries of a letter that exist; undefined when the stream no longer has them, after a day. */
  read(letter: DeadLetter): Promise<T[] | undefined>;
  /** @returns the entries to retry */
  handle(entries: readonly T[]): Promise<T[]>;
  /** Sends entries to the queue again; returns those that it did not take. */
  handOver(entries: readonly T[]): Promise<Failure<T>[]>;
  log: Log;
  now: () => Date;
}

/**
 * Processes entries that a reader of the outbox failed on. A letter of keys stays, hidden for a while, until
 * some of its entries succeed: the others are then sent in a letter of their own. So are those of stream
 * records, which last a day. After three days entries are abandoned and counted.
 */
export function processDeadEntries<T>({ read, handle, handOver, describe, log, now }: DeadEntriesPorts<T>) {
  const getAge = (entry: T): number => (now().getTime() - Date.parse(describe(entry).createdAt)) / 1000;

  return async (deadLetter: DeadLetter): Promise<{ abandoned: number; retryInSeconds?: number }> => {
    const entries = await read(deadLetter);
    if (entries === undefined) {
      if (deadLetter.kind === 'records') log('STREAM_FORGOTTEN', deadLetter.records);
      return { abandoned: 1 };
    }
    const failed = await handle(entries);
    const expired = failed.filter((entry) => getAge(entry) > EXPIRY_SECONDS);
    const open = failed.filter((entry) => !expired.includes(entry));
    const { least, most } = RETRY_SECONDS;
    if (deadLetter.kind === 'entries' && open.length === entries.length && open.length > 0) {
      const youngest = Math.ceil(Math.min(...open.map(getAge)));
      return { abandoned: 0, retryInSeconds: Math.min(Math.max(youngest, least), most) };
    }
    const refused = open.length === 0 ? [] : await handOver(open);
    // The letter is processed again, with those that it has sent, which changes nothing.
    if (refused.length > 0) return { abandoned: 0, retryInSeconds: least };
    for (const entry of expired) log('OUTBOX_ENTRY_GIVEN_UP', { id: describe(entry).id });
    return { abandoned: expired.length };
  };
}

/** Empty reads are normal; this many in a row mean that the shard ended before the range. */
const MAX_EMPTY_READS = 20;

/**
 * Reads the inserted rows of a part of a stream, for records that an event source mapping discarded.
 * @returns undefined when the stream no longer has them, after 24 hours
 * @throws Error when only some of them could be read
 */
export function streamReader(client: DynamoDBStreamsClient) {
  return async ({ streamArn, shardId, startSequenceNumber, endSequenceNumber }: DiscardedRecords) => {
    const end = BigInt(endSequenceNumber);
    let hasStarted = false;
    const rows: Row[] = [];
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
