import { type Dependency, THROTTLES } from './metric-names.ts';
import { count } from './metrics.ts';

const THROTTLING = new Set([
  'LimitExceededException',
  'ProvisionedThroughputExceeded',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'SlowDown',
  'ThrottledException',
  'Throttling',
  'ThrottlingError',
  'ThrottlingException',
  'TooManyRequestsException',
]);

type Fields = Readonly<Record<string, unknown>>;
const toFields = (value: unknown): Fields => Object(value);
const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const isThrottling = (name: unknown): boolean => THROTTLING.has(String(name));

/** A transaction names throttling in the reason of one of its items. */
export function isThrottled(error: unknown): boolean {
  const { name, $metadata, $retryable, CancellationReasons } = toFields(error);
  return (
    isThrottling(name) ||
    toFields($metadata).httpStatusCode === 429 ||
    toFields($retryable).throttling === true ||
    toList(CancellationReasons).some((reason) => isThrottling(toFields(reason).Code))
  );
}

/** Whether a part of a successful batch was throttled. */
export function isThrottledInPart(output: unknown): boolean {
  const { UnprocessedKeys, UnprocessedItems, Failed, Entries } = toFields(output);
  return (
    Object.keys(toFields(UnprocessedKeys)).length > 0 ||
    Object.keys(toFields(UnprocessedItems)).length > 0 ||
    toList(Failed).some((failed) => isThrottling(toFields(failed).Code)) ||
    toList(Entries).some((entry) => isThrottling(toFields(entry).ErrorCode))
  );
}

interface ThrottledClient {
  middlewareStack: {
    add(
      step: <A, O extends { output: unknown }>(next: (args: A) => Promise<O>) => (args: A) => Promise<O>,
      options: { step: 'finalizeRequest'; name: string; priority: 'low' },
    ): void;
  };
}

/**
 * Counts each throttled try, including those that the SDK repeats.
 * @returns the client
 */
export function countThrottles<C extends ThrottledClient>(client: C, dependency: Dependency): C {
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        const result = await next(args);
        if (isThrottledInPart(result.output)) count(THROTTLES[dependency]);
        return result;
      } catch (error) {
        if (isThrottled(error)) count(THROTTLES[dependency]);
        throw error;
      }
    },
    // Within the SDK's retry step.
    { step: 'finalizeRequest', name: 'countThrottles', priority: 'low' },
  );
  return client;
}
