import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
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
