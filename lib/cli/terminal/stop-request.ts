/** Signals that ask a program to end. SIGHUP: its terminal was closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * One Ctrl-C can arrive twice: the terminal sends it to the whole process group, and npm passes its own on to
 * its child.
 */
const SAME_KEYSTROKE_MS = 300;

/** What one of a series of signals means. */
export type Wish = 'stop' | 'stop at once' | 'nothing new';

/**
 * @param firstAt when the first signal came, undefined when this one is it
 * @param now both in milliseconds
 */
export function wishOf(firstAt: number | undefined, now: number): Wish {
  if (firstAt === undefined) return 'stop';
  return now - firstAt < SAME_KEYSTROKE_MS ? 'nothing new' : 'stop at once';
}

/** The wish of the person (or the system) that this program ends. */
export interface StopRequest {
  /** Aborted at the first signal. */
  signal: AbortSignal;
  /** What to do before an exit that waits for nothing else; replaces what was set before. */
  onForce(act: () => void): void;
}

/** How the exit of a program that was asked to stop looks to the shell, when it has to be forced. */
const FORCED = { impatience: 130, deadline: 0 } as const;

/**
 * Takes over the signals of this process. A second signal, or `graceMs` after the first, ends it by force.
 * @param options.graceMs how long stopping in good order may take
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

  // The reader of the pipe went away (`npm start | head`): nothing reads the output any more.
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

/** Waits for the signal. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
