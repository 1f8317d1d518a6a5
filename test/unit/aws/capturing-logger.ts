import { vi } from 'vitest';
import { type Logging, logging } from '../../../functions/aws/logger.ts';
import { publishMetrics } from '../../../functions/aws/metrics.ts';

export type CapturedLogging = Logging & { lines: Readonly<Record<string, unknown>>[] };

/** Runs something, and returns the metrics that are published meanwhile. */
export async function publishedDuring(run: () => Promise<unknown>): Promise<Record<string, unknown>> {
  publishMetrics();
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
