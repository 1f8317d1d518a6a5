import * as z from 'zod';

/** The cost of one request of a function. */
export interface Consumed {
  /** Read request units. */
  reads: number;
  /** Write request units, those of indexes included. */
  writes: number;
  /** Messages, bus entries or items of a transaction in it; 1 otherwise. */
  entries: number;
}

const OfTable = z.object({ CapacityUnits: z.number().default(0) });
const Answer = z.object({
  __type: z.string().default(''),
  ConsumedCapacity: z.union([OfTable.transform((one) => [one]), z.array(OfTable)]).default([]),
});
const Asked = z.object({
  TransactItems: z.array(z.unknown()).optional(),
  Entries: z.array(z.unknown()).optional(),
});

const READS = /\.(Get|BatchGet|Query|Scan|TransactGet)/;

/**
 * AWS's charge for a request. DynamoDB's units are as the engine reports. Refusals report nothing and are
 * charged all the same: a failed condition one write unit, a transaction two for each of its items (Developer
 * Guide, "Condition expressions" and "Transactions"), for items below 1 KB.
 * @param operation for example `DynamoDB.PutItem`
 * @param asked the request's body
 * @param answer the answer's body
 */
export function consumedBy(operation: string, asked: string, answer: string): Consumed {
  const { TransactItems, Entries } = Asked.parse(parsed(asked));
  const consumed = { reads: 0, writes: 0, entries: (TransactItems ?? Entries)?.length ?? 1 };
  if (!operation.startsWith('DynamoDB.')) return consumed;
  const { __type, ConsumedCapacity } = Answer.parse(parsed(answer));
  if (__type.includes('ConditionalCheckFailed')) return { ...consumed, writes: 1 };
  if (__type.includes('TransactionCanceled')) return { ...consumed, writes: 2 * consumed.entries };
  const units = ConsumedCapacity.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
  return { ...consumed, [READS.test(operation) ? 'reads' : 'writes']: units };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
