import { DatabaseSync } from 'node:sqlite';
import { REGION, tableOfStream } from '../arns.ts';
import type { StreamRecords } from '../sources/record-reader.ts';
import { SEQUENCE_DIGITS, type StreamRecord } from '../sources/stream-records.ts';

export interface StoredRecords extends StreamRecords {
  close(): void;
}

/**
 * Reads stream records from the file of the embedded DynamoDB. Its API answers the same, but takes a request,
 * and two conversions of every image, for each reader. A table's stream has one shard, which never closes.
 */
export function openStoredRecords(databaseFile: string): StoredRecords {
  const database = new DatabaseSync(databaseFile, { readOnly: true, timeout: 1_000 });
  const after = database.prepare(
    `SELECT event_name, keys_json, new_image, old_image, sequence_number, created_at, user_identity
     FROM _stream_records WHERE table_name = ? AND CAST(sequence_number AS INTEGER) > ?
     ORDER BY CAST(sequence_number AS INTEGER) LIMIT ?`,
  );
  const newest = database.prepare(
    'SELECT MAX(CAST(sequence_number AS INTEGER)) AS number FROM _stream_records WHERE table_name = ?',
  );
  const viewType = database.prepare('SELECT stream_view_type AS type FROM _tables WHERE table_name = ?');
  return {
    shards: async (streamArn) => [{ ShardId: `shardId-00000001-${tableOfStream(streamArn)}` }],
    async open({ streamArn, position, startingPosition }) {
      const table = tableOfStream(streamArn);
      const first = startingPosition === 'LATEST' ? newest.get(table)?.number : 0;
      let last = Number(position ?? first ?? 0);
      const StreamViewType = String(viewType.get(table)?.type);
      return {
        async next(limit) {
          const rows = after.all(table, last, limit);
          last = Number(rows.at(-1)?.sequence_number ?? last);
          return {
            records: rows.map((row) => toRecord(row, streamArn, StreamViewType)),
            isClosed: false,
          };
        },
      };
    },
    close: () => database.close(),
  };
}

type Row = Readonly<Record<string, unknown>>;

function toRecord(row: Row, eventSourceARN: string, StreamViewType: string): StreamRecord {
  const number = String(row.sequence_number);
  const images = [
    ['Keys', row.keys_json],
    ['NewImage', row.new_image],
    ['OldImage', row.old_image],
  ].flatMap(([name, json]) => (typeof json === 'string' ? [{ name: String(name), json }] : []));
  return {
    eventID: number,
    eventName: String(row.event_name),
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: REGION,
    eventSourceARN,
    dynamodb: {
      ApproximateCreationDateTime: Number(row.created_at),
      SequenceNumber: number.padStart(SEQUENCE_DIGITS, '0'),
      ...Object.fromEntries(images.map(({ name, json }) => [name, JSON.parse(json)])),
      SizeBytes: images.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0),
      StreamViewType,
    },
    ...(typeof row.user_identity === 'string' && { userIdentity: userIdentity(row.user_identity) }),
  };
}

function userIdentity(json: string): StreamRecord['userIdentity'] {
  const { PrincipalId, Type } = JSON.parse(json);
  return { principalId: PrincipalId, type: Type };
}
