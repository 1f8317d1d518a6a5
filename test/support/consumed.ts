import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

export interface Consumed {
  reads: number;
  writes: number;
  requests: number;
}

const NOTHING: Consumed = { reads: 0, writes: 0, requests: 0 };

/**
 * Sums the consumed capacity that the engine reports for a client's requests.
 * @returns the sum since the last call
 */
export function metered(client: DynamoDBDocumentClient): () => Consumed {
  let consumed = { ...NOTHING };
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (call) => {
        const answer = await next({ ...call, input: { ...call.input, ReturnConsumedCapacity: 'TOTAL' } });
        const capacity: unknown = Object(answer.output).ConsumedCapacity;
        const units = [capacity]
          .flat()
          .reduce((sum: number, each) => sum + Number(Object(each).CapacityUnits ?? 0), 0);
        consumed.requests += 1;
        consumed[/^(Query|Get|BatchGet)/.test(commandName) ? 'reads' : 'writes'] += units;
        return answer;
      },
    { step: 'initialize' },
  );
  return () => {
    const taken = consumed;
    consumed = { ...NOTHING };
    return taken;
  };
}
