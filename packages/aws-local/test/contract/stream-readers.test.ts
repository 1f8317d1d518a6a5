import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { sweepExpired } from '../../src/engines/sweeper.ts';
import { recordsOfApi, type StreamRecords } from '../../src/sources/record-reader.ts';
import type { StreamRecord } from '../../src/sources/stream-records.ts';
import { streamsClient } from './clients.ts';
import { inSeconds, key, now, put, startWithTable } from './contract-table.ts';
import { TABLE } from './fixture.ts';

/** A stream with every kind of record, and both ways to read it. */
async function aStream() {
  const { engine, client, streamArn } = await startWithTable();
  await put(client, 'first', { bytes: { B: Buffer.from([0, 255]) }, set: { SS: ['b', 'a'] } });
  await put(client, 'first', {
    nested: { L: [{ M: { n: { N: '1.50' } } }, { NULL: true }, { BOOL: false }] },
  });
  await client.send(new DeleteItemCommand({ TableName: TABLE, Key: key('first') }));
  await put(client, 'expired é', { expiresAt: inSeconds(-60) });
  await sweepExpired(engine.database, client, now);
  return { api: recordsOfApi(streamsClient(engine.endpoint)), stored: engine.database, client, streamArn };
}

/** A shard's records in pages of two, until one is empty. */
async function read(records: StreamRecords, streamArn: string, position?: string): Promise<StreamRecord[]> {
  const { signal } = new AbortController();
  const [shard] = await records.shards(streamArn, signal);
  const shardId = String(shard?.ShardId);
  const reader = await records.open({ streamArn, shardId, position, startingPosition: 'TRIM_HORIZON' });
  const all: StreamRecord[] = [];
  for (;;) {
    const { records: page, isClosed } = await reader.next(2, signal);
    expect(isClosed).toBe(false);
    if (page.length === 0) return all;
    expect(page.length).toBeLessThanOrEqual(2);
    all.push(...page);
  }
}

/** The engine's API names the fields of an identity otherwise than DynamoDB, so that the SDK drops them. */
const withoutIdentity = (records: readonly StreamRecord[]) =>
  records.map(({ userIdentity, ...record }) => ({ ...record, isMarked: userIdentity !== undefined }));

describe('stream records in the file of the embedded DynamoDB', () => {
  it('are those that its API returns', async () => {
    const { api, stored, streamArn } = await aStream();
    const records = await read(stored, streamArn);
    expect(withoutIdentity(records)).toEqual(withoutIdentity(await read(api, streamArn)));
    expect(records.map(({ eventName }) => eventName)).toEqual([
      'INSERT',
      'MODIFY',
      'REMOVE',
      'INSERT',
      'REMOVE',
    ]);
  });

  it('name the service that deletes expired items', async () => {
    const { stored, streamArn } = await aStream();
    const identities = (await read(stored, streamArn)).map(({ userIdentity }) => userIdentity);
    const service = { type: 'Service', principalId: 'dynamodb.amazonaws.com' };
    expect(identities).toEqual([undefined, undefined, undefined, undefined, service]);
  });

  it('are in the shard that its API names', async () => {
    const { api, stored, streamArn } = await aStream();
    const { signal } = new AbortController();
    const idsOf = async (records: StreamRecords) =>
      (await records.shards(streamArn, signal)).map(({ ShardId }) => ShardId);
    expect(await idsOf(stored)).toEqual(await idsOf(api));
  });

  it('continue after a position', async () => {
    const { api, stored, streamArn } = await aStream();
    const position = (await read(stored, streamArn))[2]?.dynamodb.SequenceNumber;
    const rest = await read(stored, streamArn, position);
    expect(rest).toHaveLength(2);
    expect(withoutIdentity(rest)).toEqual(withoutIdentity(await read(api, streamArn, position)));
  });

  it('begin with new ones where the mapping says so', async () => {
    const { stored, client, streamArn } = await aStream();
    const start = { streamArn, shardId: '', position: undefined, startingPosition: 'LATEST' as const };
    const reader = await stored.open(start);
    await put(client, 'new');
    const { records } = await reader.next(10, new AbortController().signal);
    expect(records.map(({ dynamodb }) => dynamodb.Keys?.pk)).toEqual([{ S: 'new' }]);
  });
});
