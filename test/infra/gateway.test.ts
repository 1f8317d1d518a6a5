import { describe, expect, it } from 'vitest';
import {
  EVERYTHING,
  FEWEST_REQUESTS,
  HIGHEST_LIMITS,
  LOWEST_LIMITS,
  SETTINGS,
  WITHOUT_WAF,
} from './contexts.ts';
import { references } from './reading.ts';
import { ofType, synthesize } from './synthesize.ts';

describe('a custom domain of the API', () => {
  const template = synthesize(EVERYTHING);

  it('is regional, with TLS 1.2 or later and the given certificate', () => {
    expect(ofType(template, 'AWS::ApiGateway::DomainName').map(([, { Properties }]) => Properties)).toEqual([
      expect.objectContaining({
        DomainName: EVERYTHING.domainName,
        EndpointConfiguration: { Types: ['REGIONAL'] },
        RegionalCertificateArn: EVERYTHING.certificateArn,
        SecurityPolicy: 'TLS_1_2',
      }),
    ]);
  });

  it('has the same public paths as the gateway’s own: /api/v1', () => {
    const [[, mapping] = []] = ofType(template, 'AWS::ApiGateway::BasePathMapping');
    const [[, stage] = []] = ofType(template, 'AWS::ApiGateway::Stage');
    expect(mapping?.Properties.BasePath).toBe('api');
    expect(stage?.Properties.StageName).toBe('api');
    expect(references(mapping?.Properties.Stage)).toEqual([expect.stringMatching(/DeploymentStage/)]);
    expect(template.toJSON().Outputs.ApiUrl.Value).toBe('https://api.example.com/api/');
  });

  it('has an output with the target of an alias record', () => {
    const { Outputs } = template.toJSON();
    expect(Outputs.DomainTarget.Value['Fn::GetAtt'][1]).toBe('RegionalDomainName');
    expect(Outputs.DomainTargetZone.Value['Fn::GetAtt'][1]).toBe('RegionalHostedZoneId');
  });

  it('is absent by default', () => {
    const without = synthesize();
    expect(ofType(without, 'AWS::ApiGateway::DomainName')).toEqual([]);
    expect(without.toJSON().Outputs).not.toHaveProperty('DomainTarget');
  });
});

describe('a web ACL', () => {
  const template = synthesize(EVERYTHING);
  const [[id, acl] = []] = ofType(template, 'AWS::WAFv2::WebACL');
  const { Rules, DefaultAction, VisibilityConfig } = Object(acl?.Properties);
  const groups: { Statement: { ManagedRuleGroupStatement?: Record<string, unknown> } }[] = Rules.filter(
    ({ Statement }: { Statement: object }) => 'ManagedRuleGroupStatement' in Statement,
  );

  it('is associated with the API’s stage', () => {
    const [[, association] = []] = ofType(template, 'AWS::WAFv2::WebACLAssociation');
    expect(references(association?.Properties.WebACLArn)).toEqual([id]);
    expect(references(association?.Properties.ResourceArn)).toContainEqual(
      expect.stringMatching(/DeploymentStage/),
    );
    expect(DefaultAction).toEqual({ Allow: {} });
  });

  it('uses AWS’s rules for requests that no client of the API sends', () => {
    expect(groups.map(({ Statement }) => Statement.ManagedRuleGroupStatement?.Name)).toEqual([
      'AWSManagedRulesCommonRuleSet',
      'AWSManagedRulesKnownBadInputsRuleSet',
    ]);
  });

  it("only counts matches of rules on bodies, which contain users' texts", () => {
    // The rules of the two groups that inspect bodies, as AWS lists them (WAF Developer Guide, Baseline rule
    // groups).
    const bodies = [
      'CrossSiteScripting_BODY',
      'EC2MetaDataSSRF_BODY',
      'GenericLFI_BODY',
      'GenericRFI_BODY',
      'SizeRestrictions_BODY',
      'JavaDeserializationRCE_BODY',
      'Log4JRCE_BODY',
      'ReactJSRCE_BODY',
    ];
    const counted = groups.flatMap(
      ({ Statement }) =>
        Statement.ManagedRuleGroupStatement?.RuleActionOverrides as { Name: string; ActionToUse: object }[],
    );
    expect(counted.map(({ Name }) => Name)).toEqual(expect.arrayContaining(bodies));
    for (const { ActionToUse } of counted) expect(ActionToUse).toEqual({ Count: {} });
  });

  interface RateRule {
    Name: string;
    Priority: number;
    Statement: {
      RateBasedStatement: {
        AggregateKeyType: string;
        Limit: number;
        ForwardedIPConfig?: object;
        ScopeDownStatement?: object;
      };
    };
  }
  const rateRules = (context: Record<string, unknown> = {}): RateRule[] =>
    Object(ofType(synthesize(context), 'AWS::WAFv2::WebACL')[0]?.[1].Properties).Rules.filter(
      ({ Statement }: { Statement: object }) => 'RateBasedStatement' in Statement,
    );
  const rateRule = (name: string, context: Record<string, unknown> = {}) => {
    const rule = rateRules(context).find(({ Name }) => Name === name);
    if (rule === undefined) throw new Error(`there is no rule ${name}`);
    return rule.Statement.RateBasedStatement;
  };

  it("permits one address ten times a plan's rate, for any limits", () => {
    const limitOf = (context: Record<string, unknown>) => rateRule('RequestsFromOneAddress', context).Limit;
    expect(limitOf({})).toBe(60_000);
    expect(limitOf(SETTINGS)).toBe(5_000);
  });

  it('rejects a limit that WAF does not support', () => {
    for (const context of [LOWEST_LIMITS, HIGHEST_LIMITS])
      for (const { Statement } of rateRules(context)) {
        expect(Statement.RateBasedStatement.Limit).toBeGreaterThanOrEqual(10);
        expect(Statement.RateBasedStatement.Limit).toBeLessThanOrEqual(2_000_000_000);
      }
  });

  it('counts every request by its source, which cannot be forged', () => {
    expect(rateRule('RequestsFromOneAddress')).toEqual({
      AggregateKeyType: 'IP',
      EvaluationWindowSec: 60,
      Limit: 60_000,
    });
  });

  it('counts requests through CloudFront by the viewer, before and at a lower limit than by the edge', () => {
    const byViewer = rateRules().filter(
      ({ Statement }) => Statement.RateBasedStatement.AggregateKeyType === 'FORWARDED_IP',
    );
    expect(byViewer.map(({ Name }) => Name)).toEqual([
      'UnauthenticatedFromOneViewer',
      'RequestsFromOneViewer',
    ]);
    const bySource = rateRules().find(({ Name }) => Name === 'RequestsFromOneAddress');
    for (const { Priority, Statement } of byViewer) {
      const { ForwardedIPConfig, Limit, ScopeDownStatement } = Statement.RateBasedStatement;
      expect(ForwardedIPConfig).toEqual({ HeaderName: 'X-Forwarded-For', FallbackBehavior: 'NO_MATCH' });
      expect(JSON.stringify(ScopeDownStatement)).toContain('"(cloudfront)"');
      expect(Priority).toBeLessThan(Number(bySource?.Priority));
      expect(Limit).toBeLessThan(Number(bySource?.Statement.RateBasedStatement.Limit));
    }
  });

  it('has a lower limit for all paths without credentials', () => {
    for (const name of ['UnauthenticatedFromOneViewer', 'UnauthenticatedFromOneAddress']) {
      const { Limit, ScopeDownStatement } = rateRule(name);
      expect(Limit).toBe(600);
      const searched = [...JSON.stringify(ScopeDownStatement).matchAll(/"SearchString":"(\/[^"]*)"/g)].map(
        ([, path]) => path,
      );
      expect(searched.sort()).toEqual(['/api/docs', '/api/openapi.json', '/api/session']);
    }
  });

  it('has metrics but no samples, which would contain API keys', () => {
    for (const { VisibilityConfig: visibility } of [{ VisibilityConfig }, ...Rules])
      expect(visibility).toMatchObject({
        CloudWatchMetricsEnabled: true,
        SampledRequestsEnabled: false,
      });
  });

  it('answers in the error envelope', () => {
    template.hasResourceProperties('AWS::ApiGateway::GatewayResponse', { ResponseType: 'WAF_FILTERED' });
  });

  it('exists in stage prod unless it is turned off, and elsewhere on request', () => {
    const acls = (context: Record<string, unknown>) =>
      ofType(synthesize(context), 'AWS::WAFv2::WebACL').length;
    expect([{}, WITHOUT_WAF, { stage: 'staging' }, FEWEST_REQUESTS].map(acls)).toEqual([1, 0, 0, 1]);
  });
});
