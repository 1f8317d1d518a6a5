import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { EVERYTHING, HIGHEST_LIMITS, LOWEST_LIMITS } from './contexts.ts';
import { references, resourcesOf } from './reading.ts';
import { ofType, synthesize } from './synthesize.ts';

interface RateRule {
  Name: string;
  Statement: {
    RateBasedStatement: {
      Limit: number;
      ForwardedIPConfig: { HeaderName: string };
      ScopeDownStatement: { AndStatement?: { Statements: object[] } };
    };
  };
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

it.each([{}, EVERYTHING])('a web ACL counts by an address that no caller can forge, with %j', (context) => {
  const template = synthesize(context);
  const [[, distribution] = []] = ofType(template, 'AWS::CloudFront::Distribution');
  const { CacheBehaviors, Origins } = Object(distribution?.Properties.DistributionConfig);
  const [{ FunctionAssociations, TargetOriginId }] = CacheBehaviors;
  const [{ HeaderName, HeaderValue }] = Origins.find(
    ({ Id }: { Id: string }) => Id === TargetOriginId,
  ).OriginCustomHeaders;
  const [id = ''] = references(FunctionAssociations);
  const { FunctionCode } = Object(resourcesOf(template).get(id)?.Properties);

  for (const { Name, Statement } of rateRules(context)) {
    const { ScopeDownStatement, ForwardedIPConfig } = Statement.RateBasedStatement;
    const statements = ScopeDownStatement.AndStatement?.Statements ?? [ScopeDownStatement];
    const isByViewer = Name.endsWith('Viewer');
    const isSecret = {
      ByteMatchStatement: expect.objectContaining({
        FieldToMatch: { SingleHeader: { Name: HeaderName } },
        PositionalConstraint: 'EXACTLY',
        SearchString: HeaderValue,
      }),
    };
    expect(statements).toContainEqual(isByViewer ? isSecret : { NotStatement: { Statement: isSecret } });
    if (!isByViewer) continue;
    const event = {
      viewer: { ip: '2001:db8::1' },
      request: { uri: '/api/v1', headers: { 'true-client-ip': { value: '192.0.2.1' } } },
    };
    const request = runInNewContext(`${FunctionCode}; handler(event)`, { event });
    expect(request.headers[ForwardedIPConfig.HeaderName]).toEqual({ value: '2001:db8::1' });
  }
  expect(HeaderValue).toEqual({ 'Fn::Select': [2, { 'Fn::Split': ['/', { Ref: 'AWS::StackId' }] }] });
});
