import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PRICES, SERVICES } from '../../../lib/cost/prices.ts';
import { bill } from '../../../lib/cost/pricing.ts';
import { ALL_PRICED, quantities } from '../../../lib/cost/quantities.ts';
import { isClose } from './workloads.ts';

const amounts = fc
  .array(fc.double({ min: 0, max: 1e12, noNaN: true }), {
    minLength: ALL_PRICED.length,
    maxLength: ALL_PRICED.length,
  })
  .map((values) => quantities(Object.fromEntries(ALL_PRICED.map((name, index) => [name, values[index]]))));

describe('a bill', () => {
  it('adds up: lines to services, services to the total', () => {
    fc.assert(
      fc.property(amounts, (quantity) => {
        const { services, usd } = bill(quantity);
        for (const service of services)
          expect(
            isClose(
              service.usd,
              service.lines.reduce((sum, line) => sum + line.usd, 0),
            ),
          ).toBe(true);
        expect(
          isClose(
            usd,
            services.reduce((sum, service) => sum + service.usd, 0),
          ),
        ).toBe(true);
      }),
    );
  });

  it('has every service once, the most expensive first', () => {
    fc.assert(
      fc.property(amounts, (quantity) => {
        const { services } = bill(quantity);
        expect(services.map(({ service }) => service).sort()).toEqual([...SERVICES].sort());
        expect(services.map(({ usd }) => usd)).toEqual(services.map(({ usd }) => usd).sort((a, b) => b - a));
      }),
    );
  });

  it('charges by the unit of the price', () => {
    const { services } = bill(quantities({ writeUnits: 2e6, keyRequests: 20_000, alarms: 3 }));
    const usdOf = (name: string) => services.find(({ service }) => service === name)?.usd;

    expect(usdOf('DynamoDB')).toBeCloseTo(1.25, 12);
    expect(usdOf('KMS')).toBeCloseTo(0.06, 12);
    expect(usdOf('CloudWatch')).toBeCloseTo(0.3, 12);
    expect(usdOf('Lambda')).toBe(0);
  });

  it('omits lines without a quantity', () => {
    const { services } = bill(quantities({ mails: 5 }));

    expect(services.flatMap(({ lines }) => lines.map(({ name }) => name))).toEqual(['mails']);
  });
});

describe('each price', () => {
  it.each(Object.entries(PRICES))('of %s is positive and has a source', (_, price) => {
    expect(price.usd).toBeGreaterThan(0);
    expect(price.per).toBeGreaterThan(0);
    expect(URL.parse(price.source)?.hostname).toBe('aws.amazon.com');
  });
});
