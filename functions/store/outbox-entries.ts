import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { outboxStore } from './outbox.ts';
import { type StreamRange, streamReader } from './stream.ts';
import type { Table } from './table.ts';

/**
 * Entries of the outbox for one of its readers: by the records that told of them, and by their keys. For what the stream itself does not repeat.
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
