/** Signals that ask a program to end. SIGHUP: its terminal was closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** One Ctrl-C may arrive twice: the terminal signals the whole process group, and npm its child. */
const SAME_KEYSTROKE_MS = 300;

/** Meaning of one of several signals. */
export type Wish = 'stop' | 'stop at once' | 'nothing new';

/**
 * @param firstAt time of an earlier signal, if any
 * @param now both in milliseconds
 */
export function wishOf(firstAt: number | undefined, now: number): Wish {
  if (firstAt === undefined) return 'stop';
  return now - firstAt < SAME_KEYSTROKE_MS ? 'nothing new' : 'stop at once';
}

/** A request by the user or system that this program ends. */
export interface StopRequest {
  /** Aborts at the first signal. */
  signal: AbortSignal;
  /** Sets what to do before a forced exit, in place of an earlier setting. */
  onForce(act: () => void): void;
}

/** Exit codes of a forced exit. */
const FORCED = { impatience: 130, deadline: 0 } as const;

/**
 * Handles the signals of this process. A second signal, or `graceMs` after the first, forces the exit.
 * @param options.graceMs time for an orderly stop
 */
export function awaitStopRequest(options: { graceMs: number }): StopRequest {
  const stopping = new AbortController();
  let firstAt: number | undefined;
  let beforeForce = (): void => undefined;

  const force = (code: number) => {
    beforeForce();
    process.exit(code);
  };
  const stop = () => {
    firstAt = performance.now();
    setTimeout(force, options.graceMs, FORCED.deadline).unref();
    stopping.abort();
  };
  const handle = () => {
    const wish = wishOf(firstAt, performance.now());
    if (wish === 'stop') stop();
    if (wish === 'stop at once') force(FORCED.impatience);
  };
  for (const signal of SIGNALS) process.on(signal, handle);

  // The pipe's reader is gone (`npm start | head`), so nothing reads the output.
  process.stdout.on('error', () => {
    if (firstAt === undefined) stop();
  });

  return {
    signal: stopping.signal,
    onForce: (act) => {
      beforeForce = act;
    },
  };
}

export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
