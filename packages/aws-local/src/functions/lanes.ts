/** Invocations by one event source of a function, or by all other callers. */
export interface Lane {
  /** Maximum of concurrent invocations. */
  readonly share: number;
}

interface Entry<Item> {
  lane: Lane;
  item: Item;
}

/**
 * Invocations that wait for a sandbox of one function. The lane with the fewest running invocations comes
 * first, so that no lane waits for another's invocations; within a lane, and between equals, first in, first
 * out.
 */
export class LaneQueue<Item> {
  readonly #waiting: Entry<Item>[] = [];
  readonly #underWay = new Map<Lane, number>();

  add(lane: Lane, item: Item): void {
    this.#waiting.push({ lane, item });
  }

  /** The next item, unless every lane with items uses its share. */
  get next(): Item | undefined {
    return this.#next()?.item;
  }

  /** Whether the next item's lane runs nothing. */
  get isNextFirstOfItsLane(): boolean {
    const next = this.#next();
    return next !== undefined && this.underWay(next.lane) === 0;
  }

  /** Removes the next item and counts it as running. */
  take(): Entry<Item> | undefined {
    const next = this.#next();
    if (!next) return undefined;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#underWay.set(next.lane, this.underWay(next.lane) + 1);
    return next;
  }

  /** Counts an invocation of the lane as ended. */
  end(lane: Lane): void {
    this.#underWay.set(lane, this.underWay(lane) - 1);
  }

  /** Removes all waiting items without running them. */
  clear(): Item[] {
    return this.#waiting.splice(0).map(({ item }) => item);
  }

  underWay(lane: Lane): number {
    return this.#underWay.get(lane) ?? 0;
  }

  underWayOfOthers(lane: Lane): number {
    let sum = 0;
    for (const [other, count] of this.#underWay) if (other !== lane) sum += count;
    return sum;
  }

  #next(): Entry<Item> | undefined {
    let best: Entry<Item> | undefined;
    for (const entry of this.#waiting) {
      const count = this.underWay(entry.lane);
      if (count < entry.lane.share && (!best || count < this.underWay(best.lane))) best = entry;
    }
    return best;
  }
}
