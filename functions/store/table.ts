import { type AttributeValue, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { UnreadableRow } from '../domain/due.ts';

/** A table as an adapter needs it. */
export interface Table {
  readonly client: DynamoDBDocumentClient;
  readonly name: string;
  /**
   * Takes rows that were left out of what was read because they cannot be read. Without it such a row fails
   * the read.
   */
  readonly reportUnreadable?: (row: UnreadableRow) => void;
}

/** When DynamoDB may delete an item, in its unit: whole seconds since the epoch. */
export const expiry = (now: Date, days: number): number => Math.ceil(now.getTime() / 1000) + days * 86_400;

/** Applies a conditional update. @returns whether its condition held */
export async function updated(table: Table, update: Omit<UpdateCommandInput, 'TableName'>): Promise<boolean> {
  try {
    await table.client.send(new UpdateCommand({ TableName: table.name, ...update }));
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/** The row that an image of a stream record shows. */
export const rowOf = (image: Record<string, AttributeValue> | undefined): Record<string, unknown> =>
  unmarshall(image ?? {});

type Row = Record<string, unknown>;

/** Parses rows one by one, so that a broken row is reported and does not block the others. */
export function readable<T>(
  rows: readonly Row[],
  parse: (row: Row) => T,
): { entries: T[]; unreadable: UnreadableRow[] } {
  const entries: T[] = [];
  const unreadable: UnreadableRow[] = [];
  for (const row of rows)
    try {
      entries.push(parse(row));
    } catch (error) {
      unreadable.push({ pk: String(row.pk), sk: String(row.sk ?? ''), error });
    }
  return { entries, unreadable };
}

/**
 * Parses rows that are read together. A row that cannot be read is left out and reported to the table.
 * @throws the first row's error when the table reports to nobody
 */
export function readRows<T>(
  { reportUnreadable = fail }: Pick<Table, 'reportUnreadable'>,
  rows: readonly Row[],
  parse: (row: Row) => T,
): T[] {
  const { entries, unreadable } = readable(rows, parse);
  for (const row of unreadable) reportUnreadable(row);
  return entries;
}

/** Reports a row by failing. */
export function fail({ error }: UnreadableRow): never {
  throw error;
}
