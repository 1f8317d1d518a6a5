import type { Capacity } from '../domain/rate-limit.ts';

const READS = /^(Query|Scan|Get|BatchGet|TransactGet)/;

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => Object(value);

/** What is needed of a document client: room for a step around each of its commands. */
interface Client {
  middlewareStack: {
    add(
      step: <A extends { input: object }, O extends { output: unknown }>(
        next: (args: A) => Promise<O>,
        context: { commandName?: string },
      ) => (args: A) => Promise<O>,
      options: { step: 'initialize'; name: string },
    ): void;
  };
}

/** Sums what the commands of a client consume. */
export interface CapacityMeter {
  /** Begins anew. */
  begin(): void;
  consumed(): Capacity;
}

/**
 * Has DynamoDB report what each command of a client consumes, and sums it. An instance serves one request at
 * a time, so the sum since the beginning of a request is that request's. A write that DynamoDB refuses is not
 * reported and consumes units all the same: it counts as one, a cancelled transaction as two for each of its
 * items (Developer Guide, Condition expressions, Transactions).
 */
export function meterCapacity(client: Client): CapacityMeter {
  let sum: Capacity = { reads: 0, writes: 0 };
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        try {
          const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } });
          sum[READS.test(commandName) ? 'reads' : 'writes'] += unitsOf(result.output);
          return result;
        } catch (error) {
          sum.writes += refusedUnits(error, args.input);
          throw error;
        }
      },
    { step: 'initialize', name: 'meterCapacity' },
  );
  return {
    begin() {
      sum = { reads: 0, writes: 0 };
    },
    consumed: () => ({ ...sum }),
  };
}

const unitsOf = (output: unknown): number =>
  [fieldsOf(output).ConsumedCapacity]
    .flat()
    .reduce<number>((units, each) => units + Number(fieldsOf(each).CapacityUnits ?? 0), 0);

function refusedUnits(error: unknown, input: object): number {
  const { name } = fieldsOf(error);
  if (name === 'ConditionalCheckFailedException') return 1;
  const { TransactItems } = fieldsOf(input);
  return name === 'TransactionCanceledException' && Array.isArray(TransactItems)
    ? 2 * TransactItems.length
    : 0;
}
