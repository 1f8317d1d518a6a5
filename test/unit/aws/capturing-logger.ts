import { type Logging, logging } from '../../../functions/aws/logger.ts';

export type CapturedLogging = Logging & { lines: Readonly<Record<string, unknown>>[] };

/** The logger of the functions, with its lines kept. */
export function capturingLogger(logLevel: 'DEBUG' | 'INFO' = 'INFO'): CapturedLogging {
  const lines: Readonly<Record<string, unknown>>[] = [];
  // As JSON, which has no fields without a value.
  const write = (line: object) => lines.push(JSON.parse(JSON.stringify(line)));
  return { ...logging({ logLevel, functionName: 'a-function' }, write), lines };
}
