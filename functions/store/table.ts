import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** A table as an adapter needs it. */
export interface Table {
  readonly client: DynamoDBDocumentClient;
  readonly name: string;
}

/** When DynamoDB may delete an item, in its unit: whole seconds since the epoch. */
export const expiry = (now: Date, days: number): number => Math.ceil(now.getTime() / 1000) + days * 86_400;
