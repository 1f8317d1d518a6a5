import { UserError } from './errors.ts';

/**
 * Runs a program. Prints only the message of an expected error, and the stack of others.
 * @param signal a stopped program has not failed
 * @returns the exit code: 0, or 1 when it failed
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
  if (error instanceof UserError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
