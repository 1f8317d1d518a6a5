/** The start time, which is arbitrary. */
const START = new Date('2026-11-20T09:30:00.000Z');

/** A clock that the test advances. */
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

  /** Advances to `time`, unless that has passed. */
  elapseUntil(time: Date): void {
    this.#ms = Math.max(this.#ms, time.getTime());
  }
}
