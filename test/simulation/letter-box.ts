interface Letter<T> {
  content: T;
  visibleMs: number;
}

/**
 * A dead-letter queue with its mapping, which hands out one letter at a time and deletes what was dealt with.
 */
export class LetterBox<T> {
  readonly #visibilityMs: number;
  #letters: Letter<T>[] = [];

  constructor(visibilitySeconds: number) {
    this.#visibilityMs = visibilitySeconds * 1000;
  }

  get contents(): T[] {
    return this.#letters.map(({ content }) => content);
  }

  send(content: T, visibleMs: number): void {
    this.#letters.push({ content, visibleMs });
  }

  /** Whether one can be received. */
  waits(nowMs: number): boolean {
    return this.#letters.some(({ visibleMs }) => visibleMs <= nowMs);
  }

  /** Receives the first one that can be; it comes back when it is not removed in time. */
  receive(nowMs: number): Letter<T> | undefined {
    const letter = this.#letters.find(({ visibleMs }) => visibleMs <= nowMs);
    if (letter !== undefined) letter.visibleMs = nowMs + this.#visibilityMs;
    return letter;
  }

  remove(letter: Letter<T>): void {
    this.#letters = this.#letters.filter((other) => other !== letter);
  }

  /** When the next one can be received. */
  nextMs(): number {
    return this.#letters.reduce(
      (first, { visibleMs }) => Math.min(first, visibleMs),
      Number.POSITIVE_INFINITY,
    );
  }
}
