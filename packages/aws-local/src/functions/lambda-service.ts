import type { Engine } from '../engines/engine.ts';
import { failure, type JsonAnswer, startJsonService, success } from '../engines/json-service.ts';
import { LocalRunError } from '../errors.ts';
import type { LocalFunction } from './runtime.ts';

export interface MappingState {
  UUID: string;
  EventSourceArn: string;
  FunctionArn: string;
  State: 'Enabled' | 'Disabled';
  /** Streams only: Lambda reports none for queues. */
  LastProcessingResult?: string;
}

export interface LambdaParts {
  functionOf: (nameOrArn: string) => Pick<LocalFunction, 'invoke'>;
  mappings: () => readonly MappingState[];
}

const INVOCATIONS = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;
const MAPPINGS = /^\/2015-03-31\/event-source-mappings\/?$/;

/**
 * Starts a Lambda with `Invoke` and `ListEventSourceMappings` (one page). It checks no role: a function's is
 * checked where it sends the call.
 */
export const startLambdaService = ({ functionOf, mappings }: LambdaParts): Promise<Engine> =>
  startJsonService(async ({ method, path, body }) => {
    if (method === 'GET' && MAPPINGS.test(path)) return success({ EventSourceMappings: mappings() });
    const [, name] = INVOCATIONS.exec(path) ?? [];
    if (method === 'POST' && name !== undefined) return invoke(functionOf, decodeURIComponent(name), body);
    return failure('UnknownOperationException', `The local Lambda does not know ${method} ${path}`, 404);
  });

async function invoke(
  functionOf: LambdaParts['functionOf'],
  name: string,
  payload: unknown,
): Promise<JsonAnswer> {
  let fn: ReturnType<LambdaParts['functionOf']>;
  try {
    fn = functionOf(name);
  } catch (error) {
    if (!(error instanceof LocalRunError)) throw error;
    return failure('ResourceNotFoundException', error.message, 404);
  }
  const { functionError, payload: result } = await fn.invoke(payload);
  return {
    status: 200,
    body: result ?? null,
    ...(functionError && { headers: { 'x-amz-function-error': functionError } }),
  };
}
