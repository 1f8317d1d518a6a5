import {
  type AttributeValue,
  type BatchWriteItemCommandInput,
  type CancellationReason,
  type DynamoDBClient,
  TransactionCanceledException,
  TransactionConflictException,
  type TransactWriteItem,
  type TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';

/*
 * Behavior of DynamoDB that an engine on one machine does not have: transaction conflicts and lost answers.
 * Each function changes the client that it is given.
 */

type Write = TransactWriteItem;
type Attributes = Record<string, AttributeValue>;

const PLAIN_WRITES = new Set(['PutItemCommand', 'UpdateItemCommand', 'DeleteItemCommand']);

/**
 * DynamoDB's answer to a cancelled transaction.
 * @param met for each of its writes, whether it conflicted
 */
export function cancelledError(met: readonly boolean[]): TransactionCanceledException {
  const CancellationReasons: CancellationReason[] = met.map((conflict) => ({
    Code: conflict ? 'TransactionConflict' : 'None',
  }));
  return new TransactionCanceledException({
    message: 'Transaction cancelled, please refer cancellation reasons for specific reasons',
    $metadata: {},
    CancellationReasons,
  });
}

/** Cancels each transaction for which `meets` returns true, before it takes effect. */
export function cancelTransactions(
  client: DynamoDBClient,
  meets: (input: TransactWriteItemsCommandInput) => boolean,
): void {
  client.middlewareStack.add(
    (next) => async (request) => {
      if (isTransaction(request.input) && meets(request.input))
        throw cancelledError((request.input.TransactItems ?? []).map((_, index) => index === 0));
      return next(request);
    },
    { step: 'initialize', name: 'cancelTransactions' },
  );
}

/**
 * Makes concurrent writes of one item conflict, as in DynamoDB: of two transactions the later one is
 * cancelled, and so is a plain write of an item that a transaction is writing.
 * @returns how many writes were cancelled so far
 */
export function conflictOnOverlap(client: DynamoDBClient): { count(): number } {
  const underWay = new Set<string>();
  let conflicts = 0;
  client.middlewareStack.add(
    (next, context) => async (request) => {
      const { input } = request;
      if (PLAIN_WRITES.has(context.commandName ?? '') && underWay.has(itemOf(input))) {
        conflicts += 1;
        throw new TransactionConflictException({
          message: 'Transaction is ongoing for the item',
          $metadata: {},
        });
      }
      if (!isTransaction(input)) return next(request);

      const items = (input.TransactItems ?? []).map(({ ConditionCheck, Put, Delete, Update }: Write) =>
        itemOf(ConditionCheck ?? Put ?? Delete ?? Update ?? {}),
      );
      const met = items.map((item) => underWay.has(item));
      if (met.includes(true)) {
        conflicts += 1;
        throw cancelledError(met);
      }
      for (const item of items) underWay.add(item);
      try {
        return await next(request);
      } finally {
        for (const item of items) underWay.delete(item);
      }
    },
    { step: 'initialize', name: 'conflictOnOverlap' },
  );
  return { count: () => conflicts };
}

/** Loses the answer to the next request of a command after it took effect, so that the SDK retries it. */
export function loseNextAnswer(client: DynamoDBClient, commandName: string): { lost(): boolean } {
  let lost = false;
  client.middlewareStack.add(
    (next, context) => async (request) => {
      const answer = await next(request);
      if (lost || context.commandName !== commandName) return answer;
      lost = true;
      throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    },
    // Inside the SDK's retries, which come earlier in this step.
    { step: 'finalizeRequest', priority: 'low', name: 'loseNextAnswer' },
  );
  return { lost: () => lost };
}

/** Ends each page of a query after so many items, as DynamoDB does at 1 MB. */
export function readInPagesOf(client: DynamoDBClient, limit: number): void {
  client.middlewareStack.add(
    (next, context) => (request) =>
      next(
        context.commandName === 'QueryCommand'
          ? { ...request, input: { ...request.input, Limit: limit } }
          : request,
      ),
    { step: 'initialize', name: 'readInPagesOf' },
  );
}

/**
 * Leaves some writes of each batch unprocessed, as DynamoDB does when it throttles.
 * @param leftOut how many of so many writes are left out
 * @returns how many writes each request had
 */
export function leaveOutOfBatches(
  client: DynamoDBClient,
  leftOut: (size: number) => number,
): { sizes(): number[] } {
  const sizes: number[] = [];
  client.middlewareStack.add(
    (next) => async (request) => {
      if (!isBatch(request.input)) return next(request);
      const [[table = '', writes = []] = []] = Object.entries(request.input.RequestItems ?? {});
      sizes.push(writes.length);
      const taken = writes.slice(leftOut(writes.length));
      const rest = writes.slice(0, leftOut(writes.length));
      if (taken.length === 0)
        return { response: {}, output: { $metadata: {}, UnprocessedItems: { [table]: rest } } };
      const answer = await next({ ...request, input: { RequestItems: { [table]: taken } } });
      if (rest.length > 0) Object.assign(answer.output, { UnprocessedItems: { [table]: rest } });
      return answer;
    },
    { step: 'initialize', name: 'leaveOutOfBatches' },
  );
  return { sizes: () => sizes };
}

const isBatch = (input: object): input is BatchWriteItemCommandInput =>
  'RequestItems' in input &&
  Object.values(Object(input.RequestItems)).every((writes) => Array.isArray(writes));

const isTransaction = (input: object): input is TransactWriteItemsCommandInput => 'TransactItems' in input;

/** Table and key of the item of a write. */
function itemOf(write: object): string {
  const { TableName, Key, Item } = write as Record<string, unknown>;
  const { pk, sk } = Object(Key ?? Item) as Record<string, unknown>;
  return JSON.stringify([TableName, pk, sk]);
}

/**
 * Refuses each request that names one of these items.
 * @param isRefused is given the table and the key; of a query the partition key only
 */
export function refuseItems(
  client: DynamoDBClient,
  isRefused: (table: string, key: Record<string, unknown>) => boolean,
): void {
  client.middlewareStack.add(
    (next) => async (request) => {
      if (namedItems(request.input).some(([table, key]) => isRefused(table, key)))
        throw Object.assign(new Error('the item is refused'), { name: 'AccessDeniedException' });
      return next(request);
    },
    { step: 'initialize', name: 'refuseItems' },
  );
}

/** The items that a request names, each with its table. */
function namedItems(input: object): [table: string, key: Record<string, unknown>][] {
  const { RequestItems, TransactItems, TableName, Key, Item, ExpressionAttributeValues } = input as Record<
    string,
    unknown
  >;
  if (RequestItems !== undefined)
    return Object.entries<{ Keys?: Attributes[] }>(Object(RequestItems)).flatMap(([table, { Keys = [] }]) =>
      Keys.map((key): [string, Record<string, unknown>] => [table, unmarshall(key)]),
    );
  if (Array.isArray(TransactItems))
    return TransactItems.flatMap((write: object) => Object.values(write).flatMap(namedItems));
  // The first value of a query is its partition key.
  const key = Key ?? Item ?? { pk: Object.values(Object(ExpressionAttributeValues))[0] };
  const named = unmarshall(
    Object.fromEntries(Object.entries(key).filter(([, value]) => value !== undefined)),
  );
  return [[String(TableName), named]];
}
