import { Logger, type LogItem } from '@aws-lambda-powertools/logger';

/** The real logger, except that its lines are kept instead of printed. */
export class CapturingLogger extends Logger {
  readonly lines: Record<string, unknown>[] = [];

  constructor() {
    super({ logLevel: 'DEBUG' });
  }

  protected override printLog(_level: number, log: LogItem): void {
    log.prepareForPrint();
    this.lines.push(log.getAttributes());
  }
}
