import { parseArgs } from 'node:util';
import { ENGINES, type EngineName, isEngine } from './names.ts';

/** The command line is wrong. The message is one line. */
export class ArgumentError extends Error {
  override name = 'ArgumentError';
}

export interface EngineArguments {
  help: boolean;
  /** All engines without `--only`. */
  engines: readonly EngineName[];
}

const OPTIONS = {
  only: { type: 'string', multiple: true, default: [] as string[] },
  help: { type: 'boolean', default: false, short: 'h' },
} as const;

/** @throws ArgumentError for an unknown option or engine */
export function readArguments(args: readonly string[]): EngineArguments {
  const { only, help } = parse(args);
  const unknown = only.find((name) => !isEngine(name));
  if (unknown !== undefined) throw new ArgumentError(`--only takes ${ENGINES.join(', ')}, not "${unknown}"`);
  return { help, engines: ENGINES.filter((name) => only.length === 0 || only.includes(name)) };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    if (error instanceof TypeError) throw new ArgumentError(error.message.split('. ')[0] ?? error.message);
    throw error;
  }
}
