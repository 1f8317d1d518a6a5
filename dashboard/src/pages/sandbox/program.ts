/*
 * What a simulated receiver does is written into the address of a sandbox's endpoint:
 *
 *   https://example.com/hooks?simulate=503,timeout,200@3s&simulate-speed=1000
 *
 * The rules are the service's, which judges in the end; a test holds them against each other.
 */

/** What can happen instead of an answer. */
export const FAILURES = ['timeout', 'reset', 'refused', 'dns', 'tls', 'certificate'] as const;
type Failure = (typeof FAILURES)[number];

/** What the receiver does at one attempt, and how long after its begin. `afterMs` at real speed, whole. */
export interface Step {
  does: number | Failure;
  afterMs: number;
}

export interface Program {
  /** One for each attempt, at least one; the last is for all that follow. */
  steps: readonly Step[];
  /** How many times faster than real time everything happens. */
  speed: number;
}

const STEPS = 'simulate';
const SPEED = 'simulate-speed';
export const MAX_STEPS = 50;
export const MAX_SPEED = 3600;
export const MAX_DELAY_MS = 60_000;
const STATUSES = { least: 200, most: 599 } as const;

/**
 * What is wrong with an address: it is none, names a parameter twice, or has too many steps, a step or a
 * speed that is none.
 */
type ProgramProblem = 'address' | 'twice' | 'many' | 'step' | 'speed';
export type ReadProgram = { ok: true; program: Program } | { ok: false; problem: ProgramProblem };

/** The program that an address has. One that says nothing answers 200 at once. */
export function readProgram(address: string): ReadProgram {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:') return refused('address');
  const [written, second] = url.searchParams.getAll(STEPS);
  const [speed, secondSpeed] = url.searchParams.getAll(SPEED);
  if (second !== undefined || secondSpeed !== undefined) return refused('twice');
  const steps = written?.split(',').map(stepOf) ?? [{ does: 200, afterMs: 0 }];
  if (steps.length > MAX_STEPS) return refused('many');
  const known = steps.flatMap((step) => step ?? []);
  if (known.length < steps.length) return refused('step');
  if (speed !== undefined && !(/^\d{1,4}$/.test(speed) && isSpeed(Number(speed)))) return refused('speed');
  return { ok: true, program: { steps: known, speed: speed === undefined ? 1 : Number(speed) } };
}

const refused = (problem: ProgramProblem): ReadProgram => ({ ok: false, problem });
const isSpeed = (speed: number): boolean => speed >= 1 && speed <= MAX_SPEED;

const STEP = /^(?:([2-5]\d\d)|([a-z]+))(?:@(\d{1,5}(?:\.\d{1,3})?)(ms|s))?$/;

function stepOf(text: string): Step | undefined {
  const [, status, word, delay, unit] = STEP.exec(text.trim()) ?? [];
  const does = status === undefined ? FAILURES.find((failure) => failure === word) : Number(status);
  // Rounded, because 1.001 times 1000 is not 1001.
  const afterMs = delay === undefined ? 0 : Math.round(Number(delay) * (unit === 's' ? 1000 : 1));
  return does === undefined || afterMs > MAX_DELAY_MS ? undefined : { does, afterMs };
}

/**
 * An address with a program in the place of the one that it has; everything else stays as it is written, but
 * for a fragment.
 */
export function withProgram(address: string, { steps, speed }: Program): string {
  const [written = ''] = address.split('#');
  const [path = '', ...query] = written.split('?');
  const others = query.join('?').split('&').filter(isAnotherParameter);
  const ours = [`${STEPS}=${steps.map(textOf).join(',')}`, ...(speed === 1 ? [] : [`${SPEED}=${speed}`])];
  return `${path}?${[...others, ...ours].join('&')}`;
}

function isAnotherParameter(written: string): boolean {
  const [name] = new URLSearchParams(written).keys();
  return name !== undefined && name !== STEPS && name !== SPEED;
}

function textOf({ does, afterMs }: Step): string {
  if (afterMs === 0) return `${does}`;
  return afterMs % 1000 === 0 ? `${does}@${afterMs / 1000}s` : `${does}@${afterMs}ms`;
}

/** A list with one of its items elsewhere. @returns the same list when there is no such place */
export function moved<Item>(items: readonly Item[], from: number, to: number): readonly Item[] {
  const item = items[from];
  if (item === undefined || to < 0 || to >= items.length) return items;
  return items.toSpliced(from, 1).toSpliced(to, 0, item);
}

export function statusFrom(text: string): number | undefined {
  const status = /^\d{3}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return status >= STATUSES.least && status <= STATUSES.most ? status : undefined;
}

/**
 * Reads a wait that was typed in seconds, with a decimal point or comma. Empty is none. @returns milliseconds
 */
export function delayFrom(text: string): number | undefined {
  const written = text.trim().replace(',', '.');
  if (written === '') return 0;
  const ms = /^\d{1,2}(\.\d{1,3})?$/.test(written) ? Math.round(Number(written) * 1000) : Number.NaN;
  return ms <= MAX_DELAY_MS ? ms : undefined;
}
