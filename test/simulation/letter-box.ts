interface Letter<T> {
  content: T;
  visibleMs: number;
}

/** A dead-letter queue with its mapping, which returns one message at a time and deletes processed ones. */
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

  /** Whether a message can be received. */
  waits(nowMs: number): boolean {
    return this.#letters.some(({ visibleMs }) => visibleMs <= nowMs);
  }

  /** Receives the first visible message; it becomes visible again when it is not removed in time. */
  receive(nowMs: number): Letter<T> | undefined {
    const letter = this.#letters.find(({ visibleMs }) => visibleMs <= nowMs);
    if (letter !== undefined) letter.visibleMs = nowMs + this.#visibilityMs;
    return letter;
  }

  hide(letter: Letter<T>, visibleMs: number): void {
    letter.visibleMs = visibleMs;
  }

  /** Loses the first message, which SQS never does. */
  lose(): boolean {
    return this.#letters.shift() !== undefined;
  }

  remove(letter: Letter<T>): void {
    this.#letters = this.#letters.filter((other) => other !== letter);
  }

  /** When the next message can be received. */
  nextMs(): number {
    return this.#letters.reduce(
      (first, { visibleMs }) => Math.min(first, visibleMs),
      Number.POSITIVE_INFINITY,
    );
  }
}
