import type { VirtualClock } from 'aws-local/test/virtual-clock.ts';

/**
 * The outcome of a call. `fails-after`: it takes effect, and its caller gets an error. `repeats`: the SDK
 * retries it, because the first answer was lost. `contends`: a transaction conflicted until it gave up.
 * `arrives-late`: it takes effect after others that were made later. `ends-after`: it takes effect, and its
 * process ends before the answer. `lands-late`: its process ends, and it takes effect afterwards.
 */
export type Fate =
  | 'goes-on'
  | 'fails'
  | 'fails-after'
  | 'repeats'
  | 'contends'
  | 'arrives-late'
  | 'answers-late'
  | 'ends-after'
  | 'lands-late';

/** A process of a function, with its own clock and its own memory. */
export interface Process {
  readonly name: string;
  /** The function that it runs. */
  readonly kind: string;
  /** How far its clock is ahead of the true time. It may step. */
  skewMs: number;
  hasStepped: boolean;
  /** True time of its start. */
  readonly startedMs: number;
  /** True time at which its present invocation began. */
  invokedMs: number;
  /** True time at which its function's timeout ends it; infinite while it is idle. */
  deadline: number;
  alive: boolean;
  /** Whether one of its calls did not do what it should. */
  isDisturbed: boolean;
  /** Called when it is lost, for its invoker. */
  whenLost: () => void;
  now(): Date;
  /** The latest time that its clock has shown to it, even if the clock has stepped back since. */
  latestShownMs: number;
}

/** A call or a time that a process waits for. */
export interface Stop {
  process: Process;
  call: string;
  /** True time from which on it may continue. */
  readyAt: number;
  /** Waiting for a time can neither fail nor be repeated. */
  isTime: boolean;
  goOn(fate: Fate): void;
}

/**
 * Waits until no reaction to a promise is left. Node.js runs a tick when its queue of microtasks is empty,
 * which takes a fifth of the time of a turn of the event loop.
 */
export const settled = (): Promise<void> =>
  new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));

/** The pending promise of a process that has ended. */
export const forever = <T>(): Promise<T> => Promise.race([]);

/**
 * The processes of a world. Each runs until it makes a call, and waits there until the scheduler resumes it.
 */
export class Processes {
  readonly #clock: VirtualClock;
  #started = 0;
  /** Calls in transit between processes and stores. It never ends. */
  readonly #network: Process;
  readonly live = new Set<Process>();
  /** Pending calls of all processes, in the order in which they were made. */
  readonly stops: Stop[] = [];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
    this.#network = this.start('network', 0);
    this.live.clear();
  }

  start(kind: string, skewMs: number): Process {
    this.#started += 1;
    const clock = this.#clock;
    const process: Process = {
      name: `${kind} ${this.#started}`,
      kind,
      skewMs,
      hasStepped: false,
      startedMs: clock.ms,
      invokedMs: clock.ms,
      deadline: Number.POSITIVE_INFINITY,
      alive: true,
      isDisturbed: false,
      whenLost: () => undefined,
      latestShownMs: Number.NEGATIVE_INFINITY,
      now() {
        const ms = clock.ms + process.skewMs;
        process.latestShownMs = Math.max(process.latestShownMs, ms);
        return new Date(ms);
      },
    };
    this.live.add(process);
    return process;
  }

  /** Whether a call is to land that no process waits for. */
  get isUnderWay(): boolean {
    return this.stops.some(({ process }) => process === this.#network);
  }

  /** Waits until the scheduler resumes the call. The promise of an ended process never settles. */
  stop(process: Process, call: string): Promise<Fate> {
    return this.#wait(process, call, 0, false);
  }

  async sleep(process: Process, seconds: number): Promise<void> {
    await this.#wait(process, `${seconds} s`, this.#clock.ms + seconds * 1000, true);
  }

  /** Waits between two tries of a request, in milliseconds; the process is not known. */
  async pause(ms: number): Promise<void> {
    await this.#wait(this.#network, 'another try', this.#clock.ms + ms, true);
  }

  /** Runs a callback after some time that no process waits for. */
  async later(seconds: number, what: string, deed: () => Promise<unknown>): Promise<void> {
    await this.#wait(this.#network, what, this.#clock.ms + seconds * 1000, true);
    await deed();
  }

  #wait(process: Process, call: string, readyAt: number, isTime: boolean): Promise<Fate> {
    return new Promise((goOn) => {
      if (process.alive) this.stops.push({ process, call, readyAt, isTime, goOn });
    });
  }

  /** Resumes a call, and runs everything that follows until all processes wait again. */
  async letOn(stop: Stop, fate: Fate): Promise<void> {
    this.stops.splice(this.stops.indexOf(stop), 1);
    stop.goOn(fate);
    await settled();
    if (fate === 'ends-after' || fate === 'lands-late') this.lose(stop.process);
  }

  /** Ends a process at any point. */
  lose(process: Process): void {
    if (!process.alive) return;
    process.alive = false;
    this.live.delete(process);
    for (let index = this.stops.length - 1; index >= 0; index -= 1)
      if (this.stops[index]?.process === process) this.stops.splice(index, 1);
    process.whenLost();
  }

  /** Stops a process for some time, as a machine that is frozen. */
  freeze(process: Process, seconds: number): void {
    for (const stop of this.stops)
      if (stop.process === process) stop.readyAt = Math.max(stop.readyAt, this.#clock.ms + seconds * 1000);
  }

  /** Processes whose function's timeout has passed. */
  overdue(): Process[] {
    const overdue: Process[] = [];
    for (const process of this.live) if (process.deadline <= this.#clock.ms) overdue.push(process);
    return overdue;
  }
}
