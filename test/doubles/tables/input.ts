import type { Row } from './expressions.ts';

/** A write, alone or in a transaction. */
export interface Write {
  TableName?: string | undefined;
  Key?: Row | undefined;
  Item?: Row | undefined;
  UpdateExpression?: string | undefined;
  ConditionExpression?: string | undefined;
  ExpressionAttributeNames?: Record<string, string> | undefined;
  ExpressionAttributeValues?: Row | undefined;
  ReturnValues?: string | undefined;
  ReturnValuesOnConditionCheckFailure?: string | undefined;
}
/** Keys of a table to read. */
export interface Keys {
  Keys?: readonly Row[] | undefined;
  ConsistentRead?: boolean | undefined;
  ProjectionExpression?: string | undefined;
  ExpressionAttributeNames?: Record<string, string> | undefined;
}
export interface BatchWrite {
  DeleteRequest?: { Key: Row };
  PutRequest?: { Item: Row };
}
/** The fields of all commands. */
export interface Input extends Write {
  ConsistentRead?: boolean | undefined;
  IndexName?: string | undefined;
  KeyConditionExpression?: string | undefined;
  FilterExpression?: string | undefined;
  ProjectionExpression?: string | undefined;
  Select?: string | undefined;
  ScanIndexForward?: boolean | undefined;
  Limit?: number | undefined;
  ExclusiveStartKey?: Row | undefined;
  /** Keys to read by their tables, or writes. */
  RequestItems?: Record<string, Keys | readonly BatchWrite[]> | undefined;
  TransactItems?: readonly Record<string, Write>[] | undefined;
  ClientRequestToken?: string | undefined;
  ReturnConsumedCapacity?: string | undefined;
}
