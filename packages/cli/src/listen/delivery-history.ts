const REMEMBERED = 10_000;

/** Answered deliveries by `webhook-id`; keeps the last ten thousand. */
export class DeliveryHistory {
  readonly #answers = new Map<string, number[]>();

  /** How often the delivery was answered. */
  attemptsOf(id: string): number {
    return this.#answers.get(id)?.length ?? 0;
  }

  /** Whether it was already accepted, so that a consumer would ignore it. */
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
