/**
 * Pseudo-random numbers from a seed: sfc32 of Chris Doty-Humphrey's PractRand, which is in the public domain.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @param seed a whole number below 2^32 */
  constructor(seed: number) {
    this.#a = seed | 0;
    this.#b = 0x9e3779b9;
    this.#c = 0x243f6a88;
    // After these, neighboring seeds have nothing in common.
    for (let round = 0; round < 15; round += 1) this.next();
  }

  /** From 0 inclusive to 1 exclusive. */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4_294_967_296;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from 0 inclusive to `limit` exclusive. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** A whole number from `least` to `most`, both inclusive. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** @throws RangeError when there is nothing to pick from */
  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  /** One of the names, by relative weight; undefined when all weights are 0. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K | undefined {
    const entries = Object.entries<number>(weights);
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      if (left < weight) return name as K;
      left -= weight;
    }
    return undefined;
  }
}
