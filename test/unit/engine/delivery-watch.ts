import { expect } from 'vitest';
import { type Claimed, type Delivery, OPEN_STATUSES } from '../../../functions/domain/delivery.ts';
import type { DeliveryId } from '../../../functions/domain/ids.ts';

export const isOpen = ({ status }: Delivery): boolean => OPEN_STATUSES.some((open) => open === status);

/** Watches deliveries for what must never happen, whatever fails (architecture.md, Promises 1 and 2). */
export class DeliveryWatch {
  readonly #seen = new Map<DeliveryId, Delivery>();
  readonly #started = new Map<DeliveryId, Claimed[]>();
  readonly #violations: string[] = [];

  /**
   * An attempt reaches the receiver. It counts as under way for as long as its lease lasts, because its worker may be lost and
   * never tell. What is wrong with it shows at the next look: here it would be the dispatcher's to handle.
   */
  attemptStarts(claimed: Claimed, now: Date): void {
    const { id, attempts } = claimed;
    const earlier = this.#started.get(id) ?? [];
    const holding = [...earlier, claimed].filter(({ lease }) => lease.until > now.getTime());
    if (holding.length > 1) this.#violations.push(`two workers hold ${id} at attempt ${attempts}`);
    if (earlier.some((attempt) => attempt.attempts === attempts))
      this.#violations.push(`${id} is attempted twice as number ${attempts}`);
    if (attempts > 8) this.#violations.push(`attempt ${attempts} of ${id} was started`);
    this.#started.set(id, [...earlier, claimed]);
  }

  /** The deliveries as they are after a step. */
  look(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) {
      const before = this.#seen.get(delivery.id);
      if (before === delivery) continue;
      this.#seen.set(delivery.id, delivery);
      if (before && !isOpen(before))
        this.#violations.push(`${delivery.id} changed after it was ${before.status}`);
      if (delivery.attempts > 8)
        this.#violations.push(`${delivery.id} was claimed ${delivery.attempts} times`);
      const numbers = delivery.attemptLog.map(({ number }) => number);
      if (numbers.some((number, index) => number <= (numbers[index - 1] ?? 0)))
        this.#violations.push(`${delivery.id} has logged the attempts ${numbers}`);
    }
    if (this.#violations.length > 0) expect(this.#violations).toEqual([]);
  }
}
