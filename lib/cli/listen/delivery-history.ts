const REMEMBERED = 10_000;

/** What was received and answered before, by `webhook-id`. Forgets the oldest of ten thousand. */
export class DeliveryHistory {
  readonly #answers = new Map<string, number[]>();

  /** How often the event was answered before. */
  attemptsOf(id: string): number {
    return this.#answers.get(id)?.length ?? 0;
  }

  /** Whether it was accepted before, so that a consumer would ignore it now. */
  isDuplicate(id: string): boolean {
    return this.#answers.get(id)?.some((status) => status >= 200 && status < 300) ?? false;
  }

  answered(id: string, status: number): void {
    const before = this.#answers.get(id) ?? [];
    this.#answers.delete(id);
    this.#answers.set(id, [...before, status]);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= REMEMBERED) return;
      this.#answers.delete(oldest);
    }
  }
}
