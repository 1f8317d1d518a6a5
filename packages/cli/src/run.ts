import { harmlessOutput } from 'terminal/format.ts';
import { type Paint, paintFor } from 'terminal/paint.ts';
import type { Context } from './context.ts';
import { exitCodeFor, renderError, reportedError } from './report.ts';

/** Output of a command: for people, or with `--json` for programs. */
export interface Printer {
  isJson: boolean;
  paint: Paint;
  /** One result: a line of JSON, or its text. */
  result(value: unknown, text: () => string): void;
  /** For people only. */
  note(text: string): void;
  /** A problem that does not end the command. */
  warn(text: string): void;
}

const INTERRUPTED = 130;

/**
 * Runs a command and prints an error of it, with `--json` as JSON.
 * @param options.isStream whether it runs until the user stops it, which is no failure
 * @returns the exit code
 */
export async function runCommand(
  options: { json?: boolean | undefined; isStream?: boolean },
  context: Context,
  work: (printer: Printer) => Promise<void>,
): Promise<number> {
  try {
    await work(createPrinter(options.json === true, context));
    return 0;
  } catch (error) {
    if (context.signal.aborted && isAbort(error)) return options.isStream ? 0 : INTERRUPTED;
    const text = options.json
      ? JSON.stringify({ error: reportedError(error) })
      : renderError(error, paintFor(context.stderr));
    context.stderr.write(`${harmlessOutput(text)}\n`);
    return exitCodeFor(error);
  }
}

function createPrinter(isJson: boolean, { stdout, stderr }: Pick<Context, 'stdout' | 'stderr'>): Printer {
  const paint = paintFor(stdout);
  return {
    isJson,
    paint,
    result: (value, text) => stdout.write(`${harmlessOutput(isJson ? JSON.stringify(value) : text())}\n`),
    note: (text) => {
      if (!isJson) stdout.write(`${harmlessOutput(text)}\n`);
    },
    warn: (text) => stderr.write(`${harmlessOutput(text)}\n`),
  };
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';
