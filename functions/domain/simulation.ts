import { createHash } from 'node:crypto';
import type { CheckFinding } from './source-check.ts';
import { FETCH_TIMEOUT_SECONDS, type RetryPolicy } from './timing.ts';

/*
 * What a simulated receiver does is written into the URL of a sandbox's endpoint, as parameters of its query.
 * Live they mean nothing: they are part of an address like any other.
 *
 *   https://example.com/hooks?simulate=503,timeout,200@3s&simulate-speed=1000
 */

/**
 * What can happen instead of an answer, and what a delivery's owner reads then: the words of the real thing.
 */
export const SIMULATED_FAILURES = {
  reset: 'connection closed before the response',
  refused: 'connection refused',
  dns: 'host name does not resolve',
  tls: 'TLS handshake failed',
  certificate: 'TLS certificate has expired',
} as const;
type Failure = keyof typeof SIMULATED_FAILURES;

/** What the receiver does at one attempt. `afterMs` at real speed, whole. */
export interface Step {
  does: number | Failure | 'timeout';
  afterMs: number;
}

export interface Program {
  /** One for each attempt, at least one; the last is for all that follow. */
  steps: readonly Step[];
  /** How many times faster than real time waits pass. */
  speed: number;
}

const STEPS = 'simulate';
const SPEED = 'simulate-speed';
/** The schedule of a whole delivery, an hour, then takes a second and less. */
export const MAX_SPEED = 3600;
const MAX_STEPS = 50;
/** Beyond any deadline of an attempt. */
const MAX_DELAY_SECONDS = 60;
const DEFAULT: Program = { steps: [{ does: 200, afterMs: 0 }], speed: 1 };

export type ProgramCheck = { ok: true; program: Program } | { ok: false; problem: string };

/**
 * Reads the program of a URL. One that says nothing answers 200 at once.
 * @returns a problem fit for an API answer when it is malformed
 */
export function checkProgram(url: URL): ProgramCheck {
  const [written, second] = url.searchParams.getAll(STEPS);
  const [speed, secondSpeed] = url.searchParams.getAll(SPEED);
  if (second !== undefined || secondSpeed !== undefined)
    return toRefusal(`must give ${STEPS} and ${SPEED} once at most`);
  const steps = written?.split(',').map(parseStep) ?? DEFAULT.steps;
  if (steps.length > MAX_STEPS) return toRefusal(`may give at most ${MAX_STEPS} answers in ${STEPS}`);
  const known = steps.flatMap((step) => step ?? []);
  if (known.length < steps.length)
    return toRefusal(
      `must give in ${STEPS} statuses from 200 to 599 or ${['timeout', ...Object.keys(SIMULATED_FAILURES)].join(', ')}, each with @ and at most ${MAX_DELAY_SECONDS}s (or ms) after it if it is to come late, separated by commas`,
    );
  if (speed !== undefined && !(/^\d{1,4}$/.test(speed) && Number(speed) >= 1 && Number(speed) <= MAX_SPEED))
    return toRefusal(`must give in ${SPEED} a whole number from 1 to ${MAX_SPEED}`);
  return { ok: true, program: { steps: known, speed: speed === undefined ? DEFAULT.speed : Number(speed) } };
}

const toRefusal = (constraint: string): ProgramCheck => ({ ok: false, problem: `url ${constraint}` });

/**
 * The program of a stored URL, which was checked when it was given. What is malformed all the same counts as
 * nothing said.
 */
export function parseProgram(url: string): Program {
  const parsed = URL.parse(url);
  const check = parsed === null ? undefined : checkProgram(parsed);
  return check?.ok ? check.program : DEFAULT;
}

const STEP = /^(?:([2-5]\d\d)|([a-z]+))(?:@(\d{1,5}(?:\.\d{1,3})?)(ms|s))?$/;

function parseStep(text: string): Step | undefined {
  const [, status, word, delay, unit] = STEP.exec(text.trim()) ?? [];
  const does = status === undefined ? parseFailure(word) : Number(status);
  // Rounded, because 1.001 times 1000 is not 1001.
  const afterMs = delay === undefined ? 0 : Math.round(Number(delay) * (unit === 's' ? 1000 : 1));
  return does === undefined || afterMs > MAX_DELAY_SECONDS * 1000 ? undefined : { does, afterMs };
}

function parseFailure(word: string | undefined): Failure | 'timeout' | undefined {
  if (word === 'timeout') return word;
  return (Object.keys(SIMULATED_FAILURES) as Failure[]).find((failure) => failure === word);
}

/** What a simulated receiver gives. `afterMs` at real speed. */
export type SimulatedOutcome = { afterMs: number } & ({ status: number } | { error: string });

/**
 * What comes of an attempt at a simulated receiver.
 * @param attempt from 1
 * @param timeoutMs the deadline, as for a real one
 */
export function simulate({ steps }: Program, attempt: number, timeoutMs: number): SimulatedOutcome {
  const step = steps[Math.min(attempt, steps.length) - 1] ?? { does: 200, afterMs: 0 };
  const { does, afterMs } = step;
  if (does === 'timeout' || afterMs >= timeoutMs)
    return { afterMs: timeoutMs, error: `timed out after ${timeoutMs / 1000} s` };
  return typeof does === 'number' ? { afterMs, status: does } : { afterMs, error: SIMULATED_FAILURES[does] };
}

/** The schedule of retries where time passes faster. */
export const scaleRetryPolicy = (policy: RetryPolicy, speed: number): RetryPolicy => ({
  ...policy,
  baseSeconds: policy.baseSeconds / speed,
  capSeconds: policy.capSeconds / speed,
});

const WORDS = 60;

/**
 * What a check of a sandbox's source finds: nothing is asked, and the program in the URL says what it would
 * have been. Each check takes the next step, the last one stays; it does not wait. 200 gives a text that no
 * other step gives, 304 says that nothing has changed, anything else fails, as live.
 * @param check from 1: checks of a source that have ended, and this one
 */
export function simulateContent(url: string, check: number): CheckFinding {
  const program = parseProgram(url);
  const answer = simulate(program, check, FETCH_TIMEOUT_SECONDS * 1000);
  if ('error' in answer) return { kind: 'failed', error: answer.error };
  if (answer.status === 304) return { kind: 'not-modified' };
  if (answer.status !== 200) return { kind: 'failed', error: `the server answered ${answer.status}` };
  const step = Math.min(check, program.steps.length);
  return { kind: 'fetched', title: `Simulated content ${step}`, text: generateText(url, step) };
}

/** Words that are those of one step of one URL, always the same. */
const generateText = (url: string, step: number): string =>
  Array.from({ length: WORDS }, (_, index) =>
    createHash('sha256')
      .update(`${url}/${step}/${index}`)
      .digest('hex')
      .slice(0, 12)
      .replaceAll(/\d/g, toLetter),
  ).join(' ');

const toLetter = (digit: string): string => 'ghijklmnop'.charAt(Number(digit));
