import { expect, it } from 'vitest';
import { HIGHEST_LIMITS, LOWEST_LIMITS, SETTINGS } from './contexts.ts';
import { ofType, synthesize } from './synthesize.ts';

interface RateRule {
  Name: string;
  Priority: number;
  Statement: { RateBasedStatement: { AggregateKeyType: string; Limit: number } };
}
const rateRules = (context: Record<string, unknown> = {}): RateRule[] =>
  Object(ofType(synthesize(context), 'AWS::WAFv2::WebACL')[0]?.[1].Properties).Rules.filter(
    ({ Statement }: { Statement: object }) => 'RateBasedStatement' in Statement,
  );

it.each([LOWEST_LIMITS, HIGHEST_LIMITS])('a web ACL has limits that WAF supports, with %j', (context) => {
  for (const { Statement } of rateRules(context)) {
    expect(Statement.RateBasedStatement.Limit).toBeGreaterThanOrEqual(10);
    expect(Statement.RateBasedStatement.Limit).toBeLessThanOrEqual(2_000_000_000);
  }
});

it.each([{}, SETTINGS])(
  'a web ACL counts requests through CloudFront by the viewer, before and at a lower limit than by the edge, with %j',
  (context) => {
    const rules = rateRules(context);
    const byViewer = rules.filter(
      ({ Statement }) => Statement.RateBasedStatement.AggregateKeyType === 'FORWARDED_IP',
    );
    const bySource = rules.find(({ Name }) => Name === 'RequestsFromOneAddress');
    expect(byViewer).toHaveLength(2);
    for (const { Priority, Statement } of byViewer) {
      expect(Priority).toBeLessThan(Number(bySource?.Priority));
      expect(Statement.RateBasedStatement.Limit).toBeLessThan(
        Number(bySource?.Statement.RateBasedStatement.Limit),
      );
    }
  },
);
