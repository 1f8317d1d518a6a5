import { join } from 'node:path';
import type { Screen } from 'terminal/screen.ts';
import { LogFile, type LogLine } from './log-file.ts';
import { Throttle } from './throttle.ts';
import { renderTrouble } from './trouble.ts';

const MAX_FILE_BYTES = 5 * 1024 * 1024;
/** A retry storm logs thousands of similar warnings. */
const MAX_LINES = 10;
const WINDOW_MS = 10_000;

/** Writes all logs of functions to a file, and problems to the screen. */
export interface FunctionLog {
  /** Absolute path of the file. */
  path: string;
  accept(line: LogLine): void;
  close(): void;
}

/**
 * @param directory absolute, exists
 * @param options.verbose show everything
 * @param options.now monotonic milliseconds
 */
export function openFunctionLog(
  directory: string,
  screen: Screen,
  options: { verbose: boolean; now(): number },
): FunctionLog {
  const path = join(directory, 'functions.log');
  const file = new LogFile(path, MAX_FILE_BYTES);
  const throttle = new Throttle(MAX_LINES, WINDOW_MS);

  const showTrouble = (line: LogLine) => {
    const trouble = renderTrouble(line, screen.paint);
    if (trouble === undefined) return;
    const { shown, heldBack } = throttle.admit(options.now());
    if (heldBack > 0) screen.print(screen.paint('dim', `… and ${heldBack} more like these, see ${path}`));
    if (shown) screen.print(trouble);
  };

  const accept = ({ source, text }: LogLine) => {
    for (const line of text.trimEnd().split('\n')) {
      file.append({ source, text: line });
      if (options.verbose) screen.print(`${screen.paint('dim', source)} ${line}`);
      else showTrouble({ source, text: line });
    }
  };

  return { path, accept, close: () => file.close() };
}
