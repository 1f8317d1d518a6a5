import { afterEach, beforeEach, vi } from 'vitest';
import { type Logging, logging } from '../../../functions/aws/logger.ts';
import { count, publishMetrics } from '../../../functions/aws/metrics.ts';

export type CapturedLogging = Logging & { lines: Readonly<Record<string, unknown>>[] };

/** Publishes what other tests of the process have left, routine metrics too, so that a test sees its own. */
function publishRest(): void {
  count('Rest');
  publishMetrics();
}

/** Keeps the lines of metrics of each test of a file in place of printing them. */
export function printedMetrics(): string[] {
  const printed: string[] = [];
  beforeEach(() => {
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
    publishRest();
    printed.length = 0;
  });
  afterEach(() => {
    publishRest();
    vi.restoreAllMocks();
  });
  return printed;
}

/** Runs something, and returns the metrics that are published meanwhile. */
export async function publishedDuring(run: () => Promise<unknown>): Promise<Record<string, unknown>> {
  publishRest();
  const lines: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  await run().finally(() => write.mockRestore());
  return Object.assign({}, ...lines.map((line) => JSON.parse(line)));
}

/** The logger of the functions, with its lines kept. */
export function capturingLogger(logLevel: 'DEBUG' | 'INFO' = 'INFO'): CapturedLogging {
  const lines: Readonly<Record<string, unknown>>[] = [];
  // As JSON, which has no fields without a value.
  const write = (line: object) => lines.push(JSON.parse(JSON.stringify(line)));
  return { ...logging({ logLevel, functionName: 'a-function' }, write), lines };
}
