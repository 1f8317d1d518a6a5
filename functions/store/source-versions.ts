import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { DeleteCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import type { SourceRef, StoredVersion } from '../domain/source.ts';
import { keys, markOf } from './keys.ts';
import type { Table } from './table.ts';
import type { Change } from './transaction.ts';

/** Of compressed text in one item: DynamoDB takes 400 KB. */
const PART_BYTES = 300_000;
/** Text halves at least, and a megabyte takes 20 ms; more effort saves little. */
const QUALITY = 5;

const Part = z.object({ part: z.int(), text: z.instanceof(Uint8Array) });

/** The texts of sources' versions, compressed, in parts. */
export function sourceVersions(knowledge: Table) {
  const table = { TableName: knowledge.name };

  /** Rows of a partition, in their order. @param prefix of the sort key; DynamoDB refuses an empty one */
  async function rows(
    ref: SourceRef,
    prefix: string | undefined,
    projection?: string,
  ): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = [];
    let after: Record<string, unknown> | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await knowledge.client.send(
        new QueryCommand({
          ...table,
          ConsistentRead: true,
          KeyConditionExpression: prefix === undefined ? 'pk = :pk' : 'pk = :pk AND begins_with(sk, :prefix)',
          ExpressionAttributeValues: {
            ':pk': keys.versions(ref, ref.id),
            ...(prefix === undefined ? {} : { ':prefix': prefix }),
          },
          ...(projection === undefined ? {} : { ProjectionExpression: projection }),
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      found.push(...Items);
      after = LastEvaluatedKey;
    } while (after !== undefined);
    return found;
  }

  const remove = (Key: Record<string, unknown>) =>
    knowledge.client.send(new DeleteCommand({ ...table, Key }));

  return {
    /** The text of a version; undefined when not all of it is there. */
    async read(ref: SourceRef, { version, parts }: StoredVersion): Promise<string | undefined> {
      const [prefix = ''] = keys.versionPart(ref, ref.id, version, 0).sk.split('#');
      const found = (await rows(ref, `${prefix}#`)).map((row) => Part.parse(row));
      if (found.length !== parts) return undefined;
      return brotliDecompressSync(Buffer.concat(found.map(({ text }) => text))).toString('utf8');
    },

    /** Adds a version, in the transaction that makes it the present one. */
    add(ref: SourceRef, version: number, text: string): { parts: number; changes: Change[] } {
      const compressed = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } });
      const parts = Math.ceil(compressed.length / PART_BYTES);
      const changes = Array.from(
        { length: parts },
        (_, part): Change => ({
          // Nothing refuses it: who writes a version holds the source's lease.
          refusal: 'exists',
          write: {
            Put: {
              ...table,
              Item: {
                ...keys.versionPart(ref, ref.id, version, part),
                ...markOf(ref),
                part,
                text: compressed.subarray(part * PART_BYTES, (part + 1) * PART_BYTES),
              },
            },
          },
        }),
      );
      return { parts, changes };
    },

    /** Deletes versions that nobody needs. */
    async remove(ref: SourceRef, versions: readonly StoredVersion[]): Promise<void> {
      const parts = versions.flatMap(({ version, parts }) =>
        Array.from({ length: parts }, (_, part) => keys.versionPart(ref, ref.id, version, part)),
      );
      await Promise.all(parts.map((key) => remove({ ...key })));
    },

    /** Deletes all versions of a source that is gone. */
    async removeAll(ref: SourceRef): Promise<void> {
      for (const { pk, sk } of await rows(ref, undefined, 'pk, sk')) await remove({ pk, sk });
    },
  };
}
