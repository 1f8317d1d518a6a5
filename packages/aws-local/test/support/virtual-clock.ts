/** Where it begins: any time would do. */
const START = new Date('2026-11-20T09:30:00.000Z');

/** Time that passes only when it is told to. */
export class VirtualClock {
  #ms: number;

  constructor(start = START) {
    this.#ms = start.getTime();
  }

  /** Milliseconds since the epoch. */
  get ms(): number {
    return this.#ms;
  }

  readonly now = (): Date => new Date(this.#ms);

  elapse(seconds: number): void {
    this.#ms += seconds * 1000;
  }

  /** Goes on to `time`; stays where it is when that has passed. */
  elapseUntil(time: Date): void {
    this.#ms = Math.max(this.#ms, time.getTime());
  }
}
