import { parseArgs } from 'node:util';

/** The command line says something that cannot be meant. The message is one line. */
export class ArgumentError extends Error {
  override name = 'ArgumentError';
}

export interface BenchArguments {
  help: boolean;
  /** Names of the sections that are wanted; all where it is empty. */
  only: string[];
  runs?: number;
  seconds?: number;
  out?: string;
  compare?: string;
  isSmoke: boolean;
  isFull: boolean;
  growthScale: number;
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const OPTIONS = {
  only: { type: 'string', multiple: true, default: [] as string[] },
  runs: text,
  seconds: text,
  out: text,
  compare: text,
  smoke: flag,
  full: flag,
  'growth-scale': text,
  help: { ...flag, short: 'h' },
} as const;

/**
 * @param sections names of those that there are
 * @throws ArgumentError naming the option, what it takes and what it was given
 */
export function readArguments(args: readonly string[], sections: readonly string[]): BenchArguments {
  const values = flagsOf(args);
  const unknown = values.only.find((name) => !sections.includes(name));
  if (unknown !== undefined) throw new ArgumentError(`--only takes ${sections.join(', ')}, not "${unknown}"`);
  if (values.smoke && values.only.length > 0)
    throw new ArgumentError('--smoke is a choice of its own: it goes without --only');
  const runs = wholeNumber('runs', values.runs, [1, 1000]);
  const seconds = wholeNumber('seconds', values.seconds, [3, 3600]);
  return {
    help: values.help,
    only: [...new Set(values.only)],
    ...(runs === undefined ? {} : { runs }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(values.out === undefined ? {} : { out: values.out }),
    ...(values.compare === undefined ? {} : { compare: values.compare }),
    isSmoke: values.smoke,
    isFull: values.full,
    growthScale: scale(values['growth-scale']),
  };
}

function flagsOf(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    if (error instanceof TypeError) throw new ArgumentError(error.message.split('. ')[0] ?? error.message);
    throw error;
  }
}

/** @throws ArgumentError when it is none within the bounds */
export function wholeNumber(
  name: string,
  value: string | undefined,
  [least, most]: readonly [number, number],
): number | undefined {
  if (value === undefined) return undefined;
  const found = Number(value);
  if (!/^\d+$/.test(value) || found < least || found > most)
    throw new ArgumentError(`--${name} takes a whole number from ${least} to ${most}, not "${value}"`);
  return found;
}

function scale(value: string | undefined): number {
  if (value === undefined) return 1;
  const found = Number(value);
  if (!/^\d*\.?\d+$/.test(value) || found <= 0 || found > 1)
    throw new ArgumentError(`--growth-scale takes a number above 0 and up to 1, not "${value}"`);
  return found;
}
