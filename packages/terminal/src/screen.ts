import { formatDuration, harmlessOutput } from './format.ts';
import { type Paint, paintFor } from './paint.ts';

/** Output for the user. */
export interface Screen {
  paint: Paint;
  /** One or more whole lines. */
  print(text?: string): void;
  /**
   * Shows `title` during the work, then with its duration.
   * @param detail appended when the work is done
   */
  step<T>(title: string, work: () => Promise<T>, detail?: (result: T) => string): Promise<T>;
}

interface Output extends NodeJS.WritableStream {
  isTTY?: boolean;
}

const TITLE_WIDTH = 28;
const TIME_WIDTH = 7;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;
const ERASE_LINE = '\r\u001b[2K';

/**
 * @param output a terminal shows the current step; others get a line per finished step
 * @param now monotonic milliseconds
 */
export function createScreen(output: Output, now: () => number = () => performance.now()): Screen {
  const paint = paintFor(output);
  let current: (() => string) | undefined;

  const erase = () => current !== undefined && output.write(ERASE_LINE);
  const redraw = () => current !== undefined && output.write(`${ERASE_LINE}${current()}`);
  const print = (text = '') => {
    erase();
    output.write(`${harmlessOutput(text)}\n`);
    redraw();
  };

  async function step<T>(title: string, work: () => Promise<T>, detail?: (result: T) => string): Promise<T> {
    const startedAt = now();
    const row = (symbol: string, note = '') => {
      const time = formatDuration(now() - startedAt).padStart(TIME_WIDTH);
      return `  ${symbol} ${title.padEnd(TITLE_WIDTH)} ${paint('dim', time)}${note === '' ? '' : `   ${note}`}`;
    };
    const finish = (symbol: string, note?: string) => {
      erase();
      current = undefined;
      output.write(`${row(symbol, note)}\n`);
    };
    if (output.isTTY) {
      current = () => row(paint('cyan', FRAMES[Math.floor(now() / FRAME_MS) % FRAMES.length] ?? ''));
    }
    const timer = setInterval(redraw, FRAME_MS);
    redraw();
    try {
      const result = await work();
      finish(paint('green', '✓'), detail?.(result));
      return result;
    } catch (error) {
      finish(paint('red', '✗'));
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  return { paint, print, step };
}
