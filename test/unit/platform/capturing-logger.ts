import { Logger, type LogItem } from '@aws-lambda-powertools/logger';
import { type Logging, logging } from '../../../functions/platform/logger.ts';

/** The real log formatter, whose lines are kept instead of printed. */
class CapturingPrinter extends Logger {
  readonly lines: Record<string, unknown>[] = [];

  protected override printLog(_level: number, log: LogItem): void {
    log.prepareForPrint();
    this.lines.push(log.getAttributes());
  }
}

export type CapturedLogging = Logging & { lines: Record<string, unknown>[] };

/** The logger of the functions, with its lines kept. */
export function capturingLogger(logLevel: 'DEBUG' | 'INFO' = 'INFO'): CapturedLogging {
  const printer = new CapturingPrinter({ logLevel });
  return { ...logging(printer), lines: printer.lines };
}
