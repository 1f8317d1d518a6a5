import { findConnectionFailure } from 'terminal/connection-failure.ts';
import { LocalRunError } from './errors.ts';

/** Log line for an engine's error; the local run retries by itself. */
export function describeEngineError(error: unknown): string {
  const failure = findConnectionFailure(error);
  if (failure !== undefined) return `error: the engine cannot be reached: ${failure.reason}; trying again`;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** @throws LocalRunError naming the engine when it is unreachable, and any other error of `work` */
export async function reachEngine<T>(name: string, endpoint: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failure = findConnectionFailure(error);
    if (failure === undefined) throw error;
    throw new LocalRunError(
      `${name} at ${endpoint} cannot be reached: ${failure.reason}. ${failure.advice}`,
      { cause: error },
    );
  }
}
