import type { VirtualClock } from 'aws-local/test/virtual-clock.ts';

/**
 * What becomes of a call. `fails-after`: it takes effect, and its caller is told that it failed. `repeats`:
 * the SDK sends it again, because the answer to the first was lost. `contends`: a transaction met others
 * until it gave up. `ends-after`: it takes effect, and its process ends before it has the answer.
 * `lands-late`: its process ends, and it takes effect after that.
 */
export type Fate =
  | 'goes-on'
  | 'fails'
  | 'fails-after'
  | 'repeats'
  | 'contends'
  | 'answers-late'
  | 'ends-after'
  | 'lands-late';

/** A process of a function. It reads its own clock, and its memory goes with it. */
export interface Process {
  readonly name: string;
  /** By how much its clock is ahead of the true time. */
  readonly skewMs: number;
  /** True time of its beginning. */
  readonly startedMs: number;
  /** True time at which its function's timeout ends it; infinite while it has nothing to do. */
  deadline: number;
  alive: boolean;
  /** What its invoker does when it is lost. */
  whenLost: () => void;
  now(): Date;
}

/** A call that a process waits for, or a time. */
export interface Stop {
  process: Process;
  call: string;
  /** True time from which on it may go on. */
  readyAt: number;
  /** Waiting for a time can neither fail nor be repeated. */
  isTime: boolean;
  goOn(fate: Fate): void;
}

/**
 * Until no reaction to a promise is left to be run. Node runs a tick when its queue of microtasks is empty,
 * which takes a fifth of the time of a turn of the event loop.
 */
export const settled = (): Promise<void> =>
  new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));

/** What a process waits for that has ended. */
export const forever = <T>(): Promise<T> => Promise.race([]);

/**
 * The processes of a world, each of which runs until it calls somebody, and waits there until it is let on.
 */
export class Processes {
  readonly #clock: VirtualClock;
  #started = 0;
  /** What is under way between processes and stores. It never ends. */
  readonly #network: Process;
  readonly live = new Set<Process>();
  /** What all processes wait for, in the order in which they came to it. */
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
      skewMs,
      startedMs: clock.ms,
      deadline: Number.POSITIVE_INFINITY,
      alive: true,
      whenLost: () => undefined,
      now: () => new Date(clock.ms + skewMs),
    };
    this.live.add(process);
    return process;
  }

  /** Whether something is to land that its process did not wait for. */
  get isUnderWay(): boolean {
    return this.stops.some(({ process }) => process === this.#network);
  }

  /** Waits until the scheduler lets the call on. Of a process that has ended nothing is ever heard again. */
  stop(process: Process, call: string): Promise<Fate> {
    return this.#wait(process, call, 0, false);
  }

  async sleep(process: Process, seconds: number): Promise<void> {
    await this.#wait(process, `${seconds} s`, this.#clock.ms + seconds * 1000, true);
  }

  /** Does something after a while that no process waits for. */
  async later(seconds: number, what: string, deed: () => Promise<unknown>): Promise<void> {
    await this.#wait(this.#network, what, this.#clock.ms + seconds * 1000, true);
    await deed();
  }

  #wait(process: Process, call: string, readyAt: number, isTime: boolean): Promise<Fate> {
    return new Promise((goOn) => {
      if (process.alive) this.stops.push({ process, call, readyAt, isTime, goOn });
    });
  }

  /** Lets a call on, and everything that follows until all wait again. */
  async letOn(stop: Stop, fate: Fate): Promise<void> {
    this.stops.splice(this.stops.indexOf(stop), 1);
    stop.goOn(fate);
    await settled();
    if (fate === 'ends-after' || fate === 'lands-late') this.lose(stop.process);
  }

  /** Ends a process wherever it is. */
  lose(process: Process): void {
    if (!process.alive) return;
    process.alive = false;
    this.live.delete(process);
    for (let index = this.stops.length - 1; index >= 0; index -= 1)
      if (this.stops[index]?.process === process) this.stops.splice(index, 1);
    process.whenLost();
  }

  /** Those whose function's timeout has passed. */
  overdue(): Process[] {
    const overdue: Process[] = [];
    for (const process of this.live) if (process.deadline <= this.#clock.ms) overdue.push(process);
    return overdue;
  }
}
