import type { UrlFault } from '../receivers/url-text.ts';
import { isSandbox, type Tenant } from '../tenancy/tenant.ts';
import { type AttemptError, timedOutAfter } from './delivery.ts';
import type { RetryPolicy } from './timing.ts';

/*
 * Query parameters of a sandbox endpoint's URL program its simulated receiver. In a live organization they
 * mean nothing.
 * https://example.com/hooks?simulate=503,timeout,200@3s&simulate-speed=1000
 */

/** Simulated failures and the errors that deliveries show, worded like real ones. */
export const SIMULATED_FAILURES = {
  reset: { errorCode: 'connection_closed', error: 'connection closed before the response' },
  refused: { errorCode: 'connection_refused', error: 'connection refused' },
  dns: { errorCode: 'dns', error: 'host name does not resolve' },
  tls: { errorCode: 'tls', error: 'TLS handshake failed' },
  certificate: { errorCode: 'tls', error: 'TLS certificate has expired' },
} as const satisfies Record<string, AttemptError>;
type Failure = keyof typeof SIMULATED_FAILURES | 'timeout';
const FAILURES = /* @__PURE__ */ ['timeout', ...Object.keys(SIMULATED_FAILURES)] as readonly Failure[];

/** Behaviour at one attempt. `afterMs` at real speed, a whole number. */
export interface Step {
  does: number | Failure;
  afterMs: number;
}

export interface Program {
  /** One per attempt, at least one; the last applies to all further attempts. */
  steps: readonly Step[];
  /** Factor by which waits are shortened. */
  speed: number;
}

const STEPS = 'simulate';
const SPEED = 'simulate-speed';
/** A delivery's whole schedule of an hour then takes a second. */
export const MAX_SPEED = 3600;
const MAX_STEPS = 50;
/** Longer than any deadline of an attempt. */
const MAX_DELAY_SECONDS = 60;
const DEFAULT: Program = { steps: [{ does: 200, afterMs: 0 }], speed: 1 };

/**
 * Parses the program of a URL. Without one, the receiver answers 200 at once.
 * @returns a problem for an API response when it is malformed
 */
export function checkProgram(url: URL): { ok: true; program: Program } | ({ ok: false } & UrlFault) {
  const [written, second] = url.searchParams.getAll(STEPS);
  const [speed, secondSpeed] = url.searchParams.getAll(SPEED);
  if (second !== undefined || secondSpeed !== undefined)
    return toRefusal(`must have ${STEPS} and ${SPEED} at most once`);
  const steps = written?.split(',').map(parseStep) ?? DEFAULT.steps;
  if (steps.length > MAX_STEPS) return toRefusal(`must list at most ${MAX_STEPS} responses in ${STEPS}`);
  const valid = steps.flatMap((step) => step ?? []);
  if (valid.length < steps.length)
    return toRefusal(
      `must set ${STEPS} to a comma-separated list of statuses from 200 to 599 or ${FAILURES.join(', ')}, each optionally with a delay of at most ${MAX_DELAY_SECONDS}s: 503@2s or reset@250ms`,
    );
  if (speed !== undefined && !(/^\d{1,4}$/.test(speed) && Number(speed) >= 1 && Number(speed) <= MAX_SPEED))
    return toRefusal(`must set ${SPEED} to a whole number from 1 to ${MAX_SPEED}`);
  return { ok: true, program: { steps: valid, speed: speed === undefined ? DEFAULT.speed : Number(speed) } };
}

const toRefusal = (constraint: string) =>
  ({ ok: false, code: 'invalid_format', problem: `url ${constraint}` }) as const;

/** Parses the program of a URL, which was checked at registration. A malformed one counts as absent. */
export function parseProgram(url: string): Program {
  const parsed = URL.parse(url);
  const check = parsed === null ? undefined : checkProgram(parsed);
  return check?.ok ? check.program : DEFAULT;
}

const STEP = /^(?:([2-5]\d\d)|([a-z]+))(?:@(\d{1,5}(?:\.\d{1,3})?)(ms|s))?$/;

function parseStep(text: string): Step | undefined {
  const [, status, word, delay, unit] = STEP.exec(text.trim()) ?? [];
  const does = status === undefined ? FAILURES.find((failure) => failure === word) : Number(status);
  // Rounded: 1.001 times 1000 is not 1001.
  const afterMs = delay === undefined ? 0 : Math.round(Number(delay) * (unit === 's' ? 1000 : 1));
  return does === undefined || afterMs > MAX_DELAY_SECONDS * 1000 ? undefined : { does, afterMs };
}

/** Outcome of a simulated attempt. `afterMs` at real speed. */
export type SimulatedOutcome = { afterMs: number } & ({ status: number } | AttemptError);

/**
 * @param attempt from 1
 * @param timeoutMs the deadline, as for a real receiver
 */
export function simulate({ steps }: Program, attempt: number, timeoutMs: number): SimulatedOutcome {
  const { does, afterMs } = steps[Math.min(attempt, steps.length) - 1] ?? { does: 200, afterMs: 0 };
  if (does === 'timeout' || afterMs >= timeoutMs) return { afterMs: timeoutMs, ...timedOutAfter(timeoutMs) };
  return typeof does === 'number' ? { afterMs, status: does } : { afterMs, ...SIMULATED_FAILURES[does] };
}

/** The waits between attempts, which only a sandbox's program can shorten. */
export function getRetryPolicy(
  policy: RetryPolicy,
  tenant: Pick<Tenant, 'generation'>,
  url: string,
): RetryPolicy {
  const { baseSeconds, capSeconds } = policy;
  const { speed } = isSandbox(tenant) ? parseProgram(url) : DEFAULT;
  return { ...policy, baseSeconds: baseSeconds / speed, capSeconds: capSeconds / speed };
}
