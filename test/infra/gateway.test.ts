import { describe, expect, it } from 'vitest';
import { references } from './reading.ts';
import { ofType, synthesize } from './synthesize.ts';

const DOMAIN = {
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0f2c',
};

describe('a name of its own for the API', () => {
  const template = synthesize(DOMAIN);

  it('is served in the region, with TLS 1.2 or later, by the certificate that was given', () => {
    expect(ofType(template, 'AWS::ApiGateway::DomainName').map(([, { Properties }]) => Properties)).toEqual([
      expect.objectContaining({
        DomainName: DOMAIN.domainName,
        EndpointConfiguration: { Types: ['REGIONAL'] },
        RegionalCertificateArn: DOMAIN.certificateArn,
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

  it('says what an alias record of it points at', () => {
    const { Outputs } = template.toJSON();
    expect(Outputs.DomainTarget.Value['Fn::GetAtt'][1]).toBe('RegionalDomainName');
    expect(Outputs.DomainTargetZone.Value['Fn::GetAtt'][1]).toBe('RegionalHostedZoneId');
  });

  it('is not there without one', () => {
    const without = synthesize();
    expect(ofType(without, 'AWS::ApiGateway::DomainName')).toEqual([]);
    expect(without.toJSON().Outputs).not.toHaveProperty('DomainTarget');
  });
});

describe('a web ACL', () => {
  const template = synthesize({ waf: true });
  const [[id, acl] = []] = ofType(template, 'AWS::WAFv2::WebACL');
  const { Rules, DefaultAction, VisibilityConfig } = Object(acl?.Properties);
  const groups: { Statement: { ManagedRuleGroupStatement?: Record<string, unknown> } }[] = Rules.filter(
    ({ Statement }: { Statement: object }) => 'ManagedRuleGroupStatement' in Statement,
  );

  it('stands before the API’s stage', () => {
    const [[, association] = []] = ofType(template, 'AWS::WAFv2::WebACLAssociation');
    expect(references(association?.Properties.WebACLArn)).toEqual([id]);
    expect(references(association?.Properties.ResourceArn)).toContainEqual(
      expect.stringMatching(/DeploymentStage/),
    );
    expect(DefaultAction).toEqual({ Allow: {} });
  });

  it('has AWS’s rules for what nobody of ours sends', () => {
    expect(groups.map(({ Statement }) => Statement.ManagedRuleGroupStatement?.Name)).toEqual([
      'AWSManagedRulesCommonRuleSet',
      'AWSManagedRulesKnownBadInputsRuleSet',
    ]);
  });

  it('only counts what rules think of bodies, which hold whatever people write', () => {
    // The rules of the two groups that look at bodies, as AWS lists them (WAF Developer Guide, Baseline rule groups).
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

  it('lets one address have ten times what a plan has, however its limits are set', () => {
    const limitOf = (context: object): number =>
      Object(
        ofType(synthesize({ waf: true, ...context }), 'AWS::WAFv2::WebACL')[0]?.[1].Properties,
      ).Rules.find(({ Statement }: { Statement: object }) => 'RateBasedStatement' in Statement).Statement
        .RateBasedStatement.Limit;
    expect(limitOf({})).toBe(60_000);
    expect(limitOf({ rateLimitScale: 10_000 })).toBe(100_000);
    // WAF takes no less than ten.
    expect(limitOf({ rateLimitSandbox: 1, rateLimitStandard: 1, rateLimitScale: 1 })).toBeGreaterThanOrEqual(
      10,
    );
  });

  it('has metrics, and no samples, which would show API keys', () => {
    for (const { VisibilityConfig: visibility } of [{ VisibilityConfig }, ...Rules])
      expect(visibility).toMatchObject({
        CloudWatchMetricsEnabled: true,
        SampledRequestsEnabled: false,
      });
  });

  it('answers in the error envelope', () => {
    template.hasResourceProperties('AWS::ApiGateway::GatewayResponse', { ResponseType: 'WAF_FILTERED' });
  });

  it('is not there unless somebody asks for it', () => {
    expect(ofType(synthesize(), 'AWS::WAFv2::WebACL')).toEqual([]);
  });
});
