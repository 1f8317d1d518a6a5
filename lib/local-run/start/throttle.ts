/** Passes `limit` lines per `windowMs` and then reports how many it suppressed. */
export class Throttle {
  readonly #limit: number;
  readonly #windowMs: number;
  #windowEnd = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /**
   * @param now milliseconds
   * @returns whether to show the line, and how many the previous window suppressed
   */
  admit(now: number): { shown: boolean; heldBack: number } {
    let heldBack = 0;
    if (now >= this.#windowEnd) {
      heldBack = Math.max(0, this.#count - this.#limit);
      this.#windowEnd = now + this.#windowMs;
      this.#count = 0;
    }
    this.#count += 1;
    return { shown: this.#count <= this.#limit, heldBack };
  }
}
