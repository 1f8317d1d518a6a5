import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { LocalRunError } from 'aws-local/errors.ts';

/** The command line says something that the program does not know. */
export class UsageError extends Error {}

/**
 * Reads flags, and nothing but flags.
 * @throws UsageError
 */
export function readFlags<const T extends ParseArgsOptionsConfig>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

/**
 * Runs a program to its exit code: 0; 1 with a message when it failed; 2 with the usage when it was called wrongly.
 * An expected failure is one message, the unexpected shows where it came from.
 * @param signal a program that was asked to stop has not failed
 */
export async function exitCodeOf(
  program: () => Promise<void>,
  options: { usage: string; signal: AbortSignal; errors: { write(text: string): unknown } },
): Promise<number> {
  try {
    await program();
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      options.errors.write(`${error.message}\n\n${options.usage}`);
      return 2;
    }
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
