/** Lets `limit` lines through in `windowMs`, and then tells how many it held back. */
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
   * @returns whether the line may be shown, and how many were held back in the window before
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
