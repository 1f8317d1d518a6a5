import { PRICES, type Priced } from './prices.ts';

/** Billed quantities of a month or a piece of work. */
export type Quantities = Readonly<Record<Priced, number>>;

export const ALL_PRICED = Object.keys(PRICES) as Priced[];

/** @param given absent ones are 0 */
export const quantities = (given: Partial<Quantities> = {}): Quantities =>
  mapPriced((name) => given[name] ?? 0);

export const sumOf = (all: readonly Quantities[]): Quantities =>
  mapPriced((name) => all.reduce((sum, one) => sum + one[name], 0));

const mapPriced = (of: (name: Priced) => number): Quantities =>
  Object.fromEntries(ALL_PRICED.map((name) => [name, of(name)])) as Record<Priced, number>;
