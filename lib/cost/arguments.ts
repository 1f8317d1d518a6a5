import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { HOURS_A_MONTH, STANDARD, type Workload } from './workload.ts';

/** The command line says something that cannot be meant. The message is one line. */
export class ArgumentError extends Error {
  override name = 'ArgumentError';
}

export interface CostArguments {
  workload: Workload;
  json: boolean;
  help: boolean;
}

const text = { type: 'string' } as const;
const OPTIONS = {
  deliveries: text,
  endpoints: text,
  organizations: text,
  messages: text,
  reads: text,
  'failure-rate': text,
  'hanging-rate': text,
  'body-size': text,
  'text-size': text,
  'retention-days': text,
  'receiver-latency': text,
  'busy-hours': text,
  batch: text,
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false, short: 'h' },
} as const satisfies ParseArgsOptionsConfig;

/** As people write them: `10k`, `2.5M`, `1G`. */
const SUFFIXES: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9 };
/** More than all of AWS sends. */
const MOST = 1e15;
const KIB = 1024;
const DEFAULT_DELIVERIES = 10e6;

/**
 * Reads what a month holds. What is not said follows from the rest: an organization for each endpoint, and a message for each event.
 * @param bodyBytes of a delivered body where nothing is said
 * @throws ArgumentError naming the option, what it takes and what it was given
 */
export function readArguments(args: readonly string[], bodyBytes: number): CostArguments {
  const values = flagsOf(args);
  const { json, help } = values;
  const given = (name: Exclude<keyof typeof OPTIONS, 'json' | 'help'>) => values[name];
  const endpoints = count('endpoints', given('endpoints'), STANDARD.endpoints, 1);
  const organizations = count('organizations', given('organizations'), endpoints, 1);
  const deliveries = count('deliveries', given('deliveries'), DEFAULT_DELIVERIES);
  const endpointsEach = Math.max(1, endpoints / organizations);
  const messages = count('messages', given('messages'), deliveries / endpointsEach);
  if (deliveries > 0 && messages === 0)
    throw new ArgumentError('--messages must be more than 0 where there are deliveries: each is of an event');
  const batch = given('batch');
  return {
    json,
    help,
    workload: {
      deliveries,
      messages,
      reads: count('reads', given('reads'), STANDARD.reads),
      endpoints,
      organizations,
      failureRate: share('failure-rate', given('failure-rate'), STANDARD.failureRate),
      hangingRate: share('hanging-rate', given('hanging-rate'), STANDARD.hangingRate),
      bodySize: bytes('body-size', given('body-size'), bodyBytes),
      textSize: bytes('text-size', given('text-size'), STANDARD.textSize),
      retentionDays: count('retention-days', given('retention-days'), STANDARD.retentionDays),
      receiverLatencyMs: milliseconds('receiver-latency', given('receiver-latency')),
      busyHours: hours('busy-hours', given('busy-hours')),
      ...(batch === undefined ? {} : { batch: count('batch', batch, 1, 1) }),
    },
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

/** A number with a suffix, without a sign. @returns undefined for anything else */
function amount(value: string): number | undefined {
  const [, digits, suffix = ''] = /^(\d+(?:\.\d+)?|\.\d+)([kmg]?)$/i.exec(value.replaceAll('_', '')) ?? [];
  return digits === undefined ? undefined : Number(digits) * (SUFFIXES[suffix.toLowerCase()] ?? 1);
}

function count(name: string, value: string | undefined, standard: number, least = 0): number {
  if (value === undefined) return standard;
  const found = amount(value);
  if (found === undefined || found < least || found > MOST)
    throw refused(name, `a number of at least ${least}, such as 500, 10k, 2.5M or 1G`, value);
  return found;
}

function share(name: string, value: string | undefined, standard: number): number {
  if (value === undefined) return standard;
  const [, digits, percent] = /^(\d+(?:\.\d+)?|\.\d+)(%?)$/.exec(value) ?? [];
  const found = digits === undefined ? Number.NaN : Number(digits) / (percent ? 100 : 1);
  if (!(found <= 1)) throw refused(name, 'a share from 0% to 100%, such as 2% or 0.02', value);
  return found;
}

function bytes(name: string, value: string | undefined, standard: number): number {
  if (value === undefined) return standard;
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)\s?(B|KB|KiB)?$/i.exec(value) ?? [];
  const found = Math.round(Number(digits) * (unit.toLowerCase().startsWith('k') ? KIB : 1));
  if (digits === undefined || found < 1 || found > 256 * KIB)
    throw refused(name, 'a size from 1 B to 256 KB, such as 800 or 2KB', value);
  return found;
}

function milliseconds(name: string, value: string | undefined): number {
  if (value === undefined) return STANDARD.receiverLatencyMs;
  const [, digits, unit] = /^(\d+(?:\.\d+)?)\s?(ms|s)$/.exec(value) ?? [];
  const found = Number(digits) * (unit === 's' ? 1000 : 1);
  if (digits === undefined || found > 10_000)
    throw refused(name, 'a time up to 10s, such as 200ms or 1.5s', value);
  return found;
}

function hours(name: string, value: string | undefined): number {
  if (value === undefined) return STANDARD.busyHours;
  const found = amount(value);
  if (found === undefined || found < 1 || found > HOURS_A_MONTH)
    throw refused(name, `a number of hours from 1 to ${HOURS_A_MONTH}`, value);
  return found;
}

const refused = (name: string, takes: string, value: string): ArgumentError =>
  new ArgumentError(`--${name} takes ${takes}, not "${value}"`);
