import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { settled } from './processes.ts';

interface Sleeper {
  atMs: number;
  wake: () => void;
}

/** Virtual time for work that only waits: it moves on when nothing else is left to do. */
export class Timeline {
  readonly clock = new VirtualClock();
  /** A heap by time; equal times in any order. */
  readonly #sleepers: Sleeper[] = [];

  readonly now = (): Date => this.clock.now();

  sleep(ms: number): Promise<void> {
    return new Promise((wake) => this.#add({ atMs: this.clock.ms + ms, wake }));
  }

  /** Lets time pass until the work has ended. */
  async run<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    work.then(end, end);
    await settled();
    while (!isOver) {
      const next = this.#takeFirst();
      if (next === undefined) throw new Error('the work waits for something that never comes');
      this.clock.elapseUntil(new Date(next.atMs));
      next.wake();
      await settled();
    }
    return work;
  }

  #add(sleeper: Sleeper): void {
    const heap = this.#sleepers;
    let place = heap.push(sleeper) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#swapIfLater(parent, place)) return;
      place = parent;
    }
  }

  #takeFirst(): Sleeper | undefined {
    const heap = this.#sleepers;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let place = 0; ; ) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      const child = this.#atMs(right) < this.#atMs(left) ? right : left;
      if (!this.#swapIfLater(place, child)) return first;
      place = child;
    }
  }

  #atMs(place: number): number {
    return this.#sleepers[place]?.atMs ?? Number.POSITIVE_INFINITY;
  }

  #swapIfLater(upper: number, lower: number): boolean {
    const [first, second] = [this.#sleepers[upper], this.#sleepers[lower]];
    if (first === undefined || second === undefined || first.atMs <= second.atMs) return false;
    this.#sleepers[upper] = second;
    this.#sleepers[lower] = first;
    return true;
  }
}
