import { PRICES, type Price, type Priced, SERVICES, type ServiceName } from './prices.ts';
import { ALL_PRICED, type Quantities } from './quantities.ts';

/** A line of the bill. */
export interface Line extends Omit<Price, 'usd'> {
  name: Priced;
  quantity: number;
  /** USD per `per`. */
  price: number;
  usd: number;
}

interface ServiceCost {
  service: ServiceName;
  lines: readonly Line[];
  usd: number;
}

export interface Bill {
  /** Most expensive first; ties in the order of {@link SERVICES}. */
  services: readonly ServiceCost[];
  usd: number;
}

/** Prices quantities at list prices, without lines of zero. */
export function bill(quantities: Quantities): Bill {
  const lines = ALL_PRICED.map((name): Line => {
    const { usd: price, ...about }: Price = PRICES[name];
    return { ...about, name, quantity: quantities[name], price, usd: (quantities[name] / about.per) * price };
  });
  const services = SERVICES.map((service): ServiceCost => {
    const own = lines.filter((line) => line.service === service && line.quantity > 0);
    return { service, lines: own, usd: total(own) };
  }).sort((a, b) => b.usd - a.usd);
  return { services, usd: total(services) };
}

const total = (all: readonly { usd: number }[]): number => all.reduce((sum, { usd }) => sum + usd, 0);
