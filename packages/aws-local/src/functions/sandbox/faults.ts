// Loaded in every sandbox before its function: no schema library.
import { LocalRunError } from '../../errors.ts';

/**
 * Replaces the answer to a request:
 * - `unprocessed`: every key or item of a batch comes back as unprocessed.
 * - `missed`: a batch read finds nothing, as an eventually consistent read of new items may.
 * - `conflict`: another transaction is writing the item.
 * - `throttled`: the service asks for fewer requests.
 * - `lost`: the request takes effect, but the connection ends before its answer.
 */
export type Fault = 'unprocessed' | 'missed' | 'conflict' | 'throttled' | 'lost';

/**
 * Faults by operation: those of the first allowed requests in each process, in order. `none` lets a request
 * pass.
 */
export type FaultPlan = Readonly<Record<string, readonly (Fault | 'none')[]>>;

export interface InjectedFault {
  /** Such as `BatchGetItem`. */
  operation: string;
  fault: Fault;
}

const WRITES = ['PutItem', 'UpdateItem', 'DeleteItem'];
/** Operations that can have a fault; all if it has no entry. */
const OPERATIONS: Partial<Record<Fault, readonly string[]>> = {
  unprocessed: ['BatchGetItem', 'BatchWriteItem'],
  missed: ['BatchGetItem'],
  conflict: ['TransactWriteItems', ...WRITES],
};

/** @throws LocalRunError naming the first fault that its operation cannot have */
export function requirePossible(plan: FaultPlan): void {
  for (const [operation, faults] of Object.entries(plan))
    for (const fault of faults)
      if (fault !== 'none' && OPERATIONS[fault]?.includes(operation) === false)
        throw new LocalRunError(`The local run has no fault "${fault}" for ${operation}`);
}

/** @returns the fault of an operation's next request; undefined when it passes */
export function faultSequence(plan: FaultPlan): (operation: string) => Fault | undefined {
  const left = new Map(Object.entries(plan).map(([operation, faults]) => [operation, [...faults]]));
  return (operation) => {
    const fault = left.get(operation)?.shift();
    return fault === 'none' ? undefined : fault;
  };
}

/**
 * AWS's answer to a request with this fault.
 * @param target operation after its service's name, such as `DynamoDB_20120810.BatchGetItem`
 */
export function faultyAnswer(
  fault: Exclude<Fault, 'lost'>,
  target: string,
  body: unknown,
): { statusCode: number; body: Readonly<Record<string, unknown>> } {
  const { RequestItems = {}, TransactItems } = Object(body);
  const refused = (__type: string, message: string, fields = {}) => ({
    statusCode: 400,
    body: { __type, message, Message: message, ...fields },
  });
  switch (fault) {
    case 'unprocessed':
      return target.endsWith('.BatchGetItem')
        ? { statusCode: 200, body: { Responses: {}, UnprocessedKeys: RequestItems } }
        : { statusCode: 200, body: { UnprocessedItems: RequestItems } };
    case 'missed': {
      const Responses = Object.fromEntries(Object.keys(RequestItems).map((table) => [table, []]));
      return { statusCode: 200, body: { Responses, UnprocessedKeys: {} } };
    }
    case 'throttled':
      return refused(throttleType(target), 'Too many requests: a fault of the local run');
    case 'conflict': {
      if (!Array.isArray(TransactItems))
        return refused('TransactionConflictException', 'Transaction is ongoing for the item');
      const CancellationReasons = TransactItems.map((_, index) =>
        index === 0
          ? { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' }
          : { Code: 'None' },
      );
      const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
      return refused(
        'TransactionCanceledException',
        `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
        { CancellationReasons },
      );
    }
  }
}

function throttleType(target: string): string {
  if (target.startsWith('DynamoDB_')) return 'ProvisionedThroughputExceededException';
  return target.startsWith('AmazonSQS') ? 'RequestThrottled' : 'ThrottlingException';
}
