import { LocalRunError } from 'aws-local/errors.ts';

/**
 * Runs a program to its exit code: 0, or 1 with a message when it failed.
 * An expected failure is one message, the unexpected shows where it came from.
 * @param signal a program that was asked to stop has not failed
 */
export async function exitCodeOf(
  program: () => Promise<void>,
  options: { signal: AbortSignal; errors: { write(text: string): unknown } },
): Promise<number> {
  try {
    await program();
    return 0;
  } catch (error) {
    if (options.signal.aborted && isAbort(error)) return 0;
    options.errors.write(`\n${describe(error)}\n`);
    return 1;
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function describe(error: unknown): string {
  if (error instanceof SuppressedError) return `${describe(error.suppressed)}\n${describe(error.error)}`;
  if (error instanceof LocalRunError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
