import { findConnectionFailure } from 'terminal/connection-failure.ts';
import { type Check, CheckFailed, type CheckResult, CheckSkipped } from './check.ts';

export interface RunOptions {
  /** Aborts when the operator stops the run: remaining checks are skipped. */
  signal: AbortSignal;
  /** Monotonic milliseconds. */
  now(): number;
  onStart(name: string): void;
  onResult(result: CheckResult): void;
}

/** Runs checks in sequence; a failed check does not stop the others. */
export async function runChecks(checks: readonly Check[], options: RunOptions): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    options.onStart(check.name);
    const result = await runCheck(check, options);
    options.onResult(result);
    results.push(result);
  }
  return results;
}

async function runCheck({ name, run }: Check, { signal, now }: RunOptions): Promise<CheckResult> {
  const startedAt = now();
  const result = (outcome: Pick<CheckResult, 'status'> & Partial<CheckResult>): CheckResult => ({
    name,
    milliseconds: Math.round(now() - startedAt),
    detail: '',
    findings: [],
    ...outcome,
  });
  if (signal.aborted) return result({ status: 'skipped', detail: 'interrupted' });
  try {
    return result({ status: 'passed', detail: await run() });
  } catch (error) {
    if (error instanceof CheckSkipped) return result({ status: 'skipped', detail: error.message });
    if (signal.aborted && isAbort(error)) return result({ status: 'skipped', detail: 'interrupted' });
    return result({ status: 'failed', findings: findingsOf(error) });
  }
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

/** Findings in lines, without stack traces. */
export function findingsOf(error: unknown): readonly string[] {
  if (error instanceof CheckFailed) return error.findings;
  const failure = findConnectionFailure(error);
  if (failure !== undefined) return [`No answer: ${failure.reason}. ${failure.advice}`];
  return [error instanceof Error ? `${error.name}: ${error.message}` : String(error)];
}
