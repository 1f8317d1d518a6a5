import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Measured } from '../../../lib/cost/measured.ts';
import { idleMonth, perMillion, usage, type Workload } from '../../../lib/cost/month.ts';
import { ALL_PRICED, bill, PRICES, type Quantities, SERVICES, usdOf } from '../../../lib/cost/prices.ts';

const MEASURED = Measured.parse(
  JSON.parse(readFileSync(new URL('../../../lib/cost/measured.json', import.meta.url), 'utf8')),
);
const NONE = { messages: 0, reads: 0, failureRate: 0, exhaustedRate: 0, hangingRate: 0, burst: false };
const MILLION: Workload = { ...NONE, deliveries: 1e6 };
const costOf = (workload: Workload): number => usdOf(usage(workload, MEASURED));
/** Of a month with traffic, whatever it is. */
const fixed = idleMonth(MEASURED).prod.usd + usdOf(MEASURED.inUse);

const amounts = fc
  .array(fc.double({ min: 0, max: 1e12, noNaN: true }), {
    minLength: ALL_PRICED.length,
    maxLength: ALL_PRICED.length,
  })
  .map((values): Quantities => Object.fromEntries(ALL_PRICED.map((name, index) => [name, values[index]])));

describe('a bill', () => {
  it('adds up, and has the most expensive service first', () => {
    fc.assert(
      fc.property(amounts, (quantities) => {
        const services = bill(quantities);
        const costs = services.map(({ cost }) => cost);
        expect(costs).toEqual(costs.toSorted((one, other) => other - one));
        const total = usdOf(quantities);
        const ratio = costs.reduce((sum, cost) => sum + cost, 0) / (total || 1);
        expect(ratio).toBeCloseTo(total === 0 ? 0 : 1, 9);
      }),
    );
  });

  it('charges by the unit of the price, and omits what was not used', () => {
    const services = bill({ writeUnits: 2e6, keyRequests: 20_000, alarmMetrics: 3 });

    expect(services.map(({ service, cost }) => [service, Number(cost.toFixed(9))])).toEqual([
      ['DynamoDB', 1.25],
      ['CloudWatch', 0.3],
      ['KMS', 0.06],
    ]);
  });

  it.each(Object.entries(PRICES))('has a positive price of %s with a source', (_, price) => {
    expect(price.usd).toBeGreaterThan(0);
    expect(URL.parse(SERVICES[price.service])?.hostname).toBe('aws.amazon.com');
  });
});

describe('the cost of a month', () => {
  it('is that of its parts, each times its number', () => {
    const { firstTry, firstTryInBursts, retried, exhausted, timedOutAttempt, message } = perMillion(MEASURED);
    const { storage } = MEASURED;
    const over = (workload: Workload) =>
      costOf(workload) -
      fixed -
      workload.messages * usdOf(storage.message) -
      workload.deliveries * usdOf(storage.delivery);

    expect(over(MILLION)).toBeCloseTo(firstTry, 6);
    expect(over({ ...MILLION, burst: true })).toBeCloseTo(firstTryInBursts, 6);
    expect(over({ ...NONE, deliveries: 0, messages: 2e6 })).toBeCloseTo(2 * message, 6);
    expect(over({ ...MILLION, failureRate: 0.25 })).toBeCloseTo(0.75 * firstTry + 0.25 * retried, 6);
    expect(over({ ...MILLION, exhaustedRate: 1 })).toBeCloseTo(exhausted, 6);
    expect(over({ ...MILLION, hangingRate: 1 })).toBeCloseTo(8 * timedOutAttempt, 6);
  });

  it.each([
    ['prod', 20],
    ['dev', 2],
  ] as const)(
    'is next to nothing when nothing happens in %s: at most %i USD without the web ACL',
    (stage, most) => {
      const { usd, webAcls = 0, webAclRules = 0, ...items } = idleMonth(MEASURED)[stage];
      expect(usd - webAcls - webAclRules).toBeLessThanOrEqual(most);
      const sum = Object.values(items).reduce((all, item) => all + item, 0);
      expect(sum + webAcls + webAclRules).toBeCloseTo(usd, 9);
    },
  );

  it('is lower in bursts, which fill batches, and higher for deliveries that fail', () => {
    const { firstTry, firstTryInBursts, retried, exhausted } = perMillion(MEASURED);

    expect(firstTryInBursts).toBeLessThan(firstTry);
    expect(retried).toBeGreaterThan(firstTry);
    expect(exhausted).toBeGreaterThan(retried);
  });
});
