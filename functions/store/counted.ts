import type { Key } from './keys.ts';
import type { Table } from './table.ts';
import type { Change, Refusal } from './transaction.ts';

/** A row that counts things of one kind, so that their number keeps within its limit. */
export interface Counter {
  key: Key;
  /** Attribute of the row that holds the number. */
  things: string;
  limit: number;
  /** What it means when there is no room for one more, and when there is none to take away. */
  refusals: { full: Refusal; missing: Refusal };
  /** Further attributes of the row: the mark of a sandbox's data, where it is some. */
  marks?: Readonly<Record<string, string>>;
}

/** One more of them, for the transaction that adds it. */
export const countedUp = (
  service: Pick<Table, 'name'>,
  { key, things, limit, refusals, marks = {} }: Counter,
): Change => {
  const marked = Object.entries(marks);
  const set = marked.length === 0 ? '' : ` SET ${marked.map(([name]) => `${name} = :${name}`).join(', ')}`;
  return {
    refusal: refusals.full,
    write: {
      Update: {
        TableName: service.name,
        Key: key,
        UpdateExpression: `ADD ${things} :one${set}`,
        ConditionExpression: `attribute_not_exists(${things}) OR ${things} < :limit`,
        ExpressionAttributeValues: {
          ':one': 1,
          ':limit': limit,
          ...Object.fromEntries(marked.map(([name, value]) => [`:${name}`, value])),
        },
      },
    },
  };
};

/** One less of them, for the transaction that removes it. */
export const countedDown = (
  service: Pick<Table, 'name'>,
  { key, things, refusals }: Pick<Counter, 'key' | 'things' | 'refusals'>,
): Change => ({
  refusal: refusals.missing,
  write: {
    Update: {
      TableName: service.name,
      Key: key,
      UpdateExpression: `ADD ${things} :minusOne`,
      ConditionExpression: `${things} > :zero`,
      ExpressionAttributeValues: { ':minusOne': -1, ':zero': 0 },
    },
  },
});

/**
 * One less of them; the row goes with the last one, if it is the last.
 * @param left how many the row had when it was read
 */
export const countedOut = (
  service: Pick<Table, 'name'>,
  counter: Pick<Counter, 'key' | 'things' | 'refusals'>,
  left: number,
): Change =>
  left > 1
    ? countedDown(service, counter)
    : {
        refusal: counter.refusals.missing,
        write: {
          Delete: {
            TableName: service.name,
            Key: counter.key,
            ConditionExpression: `${counter.things} = :one`,
            ExpressionAttributeValues: { ':one': 1 },
          },
        },
      };

/**
 * The removal of a row that must be there, or for which a condition holds; refused as its counter says where
 * it is gone already.
 */
export const removal = (
  service: Pick<Table, 'name'>,
  key: Key,
  { missing }: Pick<Counter['refusals'], 'missing'>,
  { condition, values }: { condition: string; values: Record<string, unknown> } = {
    condition: 'attribute_exists(pk)',
    values: {},
  },
): Change => ({
  refusal: missing,
  write: {
    Delete: {
      TableName: service.name,
      Key: key,
      ConditionExpression: condition,
      // DynamoDB takes no empty map of values.
      ...(Object.keys(values).length === 0 ? {} : { ExpressionAttributeValues: values }),
    },
  },
});
