import { isStream } from './mapping-rules.ts';
import { SHARD_END } from './shard.ts';

interface Reader {
  logicalId: string;
  EventSourceArn: string;
  StartingPosition?: string | undefined;
}

/**
 * How far all of these mappings have read each table's stream: their lowest checkpoint, 0 while one that
 * starts at the oldest record has none, undefined for a table without a mapping.
 */
export function readByAll(
  mappings: readonly Reader[],
  checkpoints: { of(source: string): ReadonlyMap<string, string> },
): (table: string) => bigint | undefined {
  return (table) => {
    const positions = mappings
      .filter((mapping) => isStream(mapping) && mapping.EventSourceArn.includes(`:table/${table}/`))
      .flatMap(({ logicalId, StartingPosition }) => {
        const positions = [...checkpoints.of(logicalId).values()];
        const open = positions.filter((position) => position !== SHARD_END).map(BigInt);
        return positions.length === 0 && StartingPosition !== 'LATEST' ? [0n] : open;
      });
    return positions.reduce<bigint | undefined>(
      (lowest, position) => (lowest === undefined || position < lowest ? position : lowest),
      undefined,
    );
  };
}
