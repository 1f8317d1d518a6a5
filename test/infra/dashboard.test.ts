import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { STAGES } from '../../lib/infra/stages.ts';
import { SETTINGS } from './contexts.ts';
import { all, references, statementsIn } from './reading.ts';
import { ofType, stacksOf, synthesize } from './synthesize.ts';

const template = synthesize();
const [[distributionId, distribution] = ['', undefined]] = ofType(template, 'AWS::CloudFront::Distribution');
const config = Object(Object(distribution?.Properties).DistributionConfig);
const [[bucketId] = ['']] = ofType(template, 'AWS::S3::Bucket');

describe('the bucket of the dashboard', () => {
  it('is private, encrypted, and kept when its stack is deleted, in every stage', () => {
    for (const stage of STAGES)
      for (const [id, { Properties, DeletionPolicy, UpdateReplacePolicy }] of all(
        synthesize({ stage }),
        'AWS::S3::Bucket',
      )) {
        expect(Properties, id).toMatchObject({
          PublicAccessBlockConfiguration: {
            BlockPublicAcls: true,
            BlockPublicPolicy: true,
            IgnorePublicAcls: true,
            RestrictPublicBuckets: true,
          },
          BucketEncryption: {
            ServerSideEncryptionConfiguration: [
              { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
            ],
          },
          OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
        });
        expect([DeletionPolicy, UpdateReplacePolicy], id).toEqual(['Retain', 'Retain']);
      }
  });

  it('is readable by the distribution only, with TLS 1.2 or later', () => {
    const [[, policy] = []] = ofType(template, 'AWS::S3::BucketPolicy');
    const statements = statementsIn(policy?.Properties.PolicyDocument);
    expect(statements.filter(({ effect }) => effect === 'Deny').map(({ condition }) => condition)).toEqual([
      { Bool: { 'aws:SecureTransport': 'false' } },
      { NumericLessThan: { 's3:TlsVersion': 1.2 } },
    ]);
    const [allowed, ...others] = statements.filter(({ effect }) => effect === 'Allow');
    expect(others).toEqual([]);
    expect(allowed).toMatchObject({
      actions: ['s3:GetObject', 's3:ListBucket'],
      principal: { Service: 'cloudfront.amazonaws.com' },
    });
    expect(references(allowed?.condition)).toContain(distributionId);
  });
});

describe('the distribution', () => {
  it('serves the files compressed, by GET and HEAD, with the security headers', () => {
    expect(config.DefaultCacheBehavior).toMatchObject({
      AllowedMethods: ['GET', 'HEAD'],
      Compress: true,
      ViewerProtocolPolicy: 'redirect-to-https',
      // Managed-CachingOptimized.
      CachePolicyId: '658327ea-f89d-4fab-a63d-7e88639e58f6',
    });
    const [policy] = references(config.DefaultCacheBehavior.ResponseHeadersPolicyId);
    expect(ofType(template, 'AWS::CloudFront::ResponseHeadersPolicy').map(([id]) => id)).toEqual([policy]);
    const origin = config.Origins.find(
      ({ Id }: { Id: string }) => Id === config.DefaultCacheBehavior.TargetOriginId,
    );
    expect(references(origin.DomainName)).toEqual([bucketId]);
    expect(references(origin.OriginAccessControlId)).toHaveLength(1);
  });

  it('passes API requests on unchanged, without caching', () => {
    const [behavior, ...others] = config.CacheBehaviors;
    expect(others).toEqual([]);
    expect(behavior).toMatchObject({
      PathPattern: '/api/*',
      AllowedMethods: expect.arrayContaining(['GET', 'POST', 'PATCH', 'DELETE']),
      ViewerProtocolPolicy: 'https-only',
      // Managed-CachingDisabled and Managed-AllViewerExceptHostHeader.
      CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
      OriginRequestPolicyId: 'b689b0a8-53d0-40ab-baf2-68738e2966ac',
    });
    expect(behavior).not.toHaveProperty('ResponseHeadersPolicyId');
    expect(behavior).not.toHaveProperty('FunctionAssociations');
    const origin = config.Origins.find(({ Id }: { Id: string }) => Id === behavior.TargetOriginId);
    expect(JSON.stringify(origin.DomainName)).toContain('.execute-api.');
    expect(origin).not.toHaveProperty('OriginPath');
    expect(origin.CustomOriginConfig).toMatchObject({
      OriginProtocolPolicy: 'https-only',
      OriginSSLProtocols: ['TLSv1.2'],
    });
  });

  it('caches no error of the API, and replaces none', () => {
    expect(config.CustomErrorResponses).toEqual(
      [404, 405, 414, 500, 501, 502, 503, 504].map((ErrorCode) => ({ ErrorCode, ErrorCachingMinTTL: 0 })),
    );
  });

  it('supports HTTP/2 and HTTP/3', () => {
    expect(config.HttpVersion).toBe('http2and3');
  });

  it("has the dashboard's domain name where it has a certificate, with TLS 1.2 or later", () => {
    const named = synthesize(SETTINGS);
    named.hasResourceProperties('AWS::CloudFront::Distribution', {
      DistributionConfig: {
        Aliases: ['dashboard.example.com'],
        ViewerCertificate: {
          AcmCertificateArn: SETTINGS.dashboardCertificateArn,
          MinimumProtocolVersion: 'TLSv1.2_2021',
          SslSupportMethod: 'sni-only',
        },
      },
    });
    named.hasOutput('DashboardUrl', { Value: 'https://dashboard.example.com/' });
    expect(config).not.toHaveProperty('Aliases');
    template.hasOutput('DashboardUrl', {
      Value: { 'Fn::Join': ['', ['https://', { 'Fn::GetAtt': [distributionId, 'DomainName'] }, '/']] },
    });
  });
});

describe('the pages', () => {
  const [[, policy] = []] = ofType(template, 'AWS::CloudFront::ResponseHeadersPolicy');
  const { SecurityHeadersConfig: security, CustomHeadersConfig: custom } = Object(
    policy?.Properties.ResponseHeadersPolicyConfig,
  );

  it('load nothing from another origin, and nothing inline', () => {
    const directives = security.ContentSecurityPolicy.ContentSecurityPolicy.split('; ').map(
      (directive: string) => directive.split(' '),
    );
    const sources = new Map<string, string[]>(
      directives.map(([name, ...values]: string[]) => [name, values]),
    );
    expect(sources.get('default-src')).toEqual(["'none'"]);
    for (const name of ['base-uri', 'form-action', 'frame-ancestors'])
      expect(sources.get(name)).toEqual(["'none'"]);
    for (const [name, values] of sources) {
      if (name.startsWith('require-') || name.startsWith('trusted-')) continue;
      expect(["'none'", "'self'"], name).toContain(values.join(' '));
    }
    expect(sources.get('require-trusted-types-for')).toEqual(["'script'"]);
  });

  it("have every security header, regardless of the bucket's headers", () => {
    expect(security).toMatchObject({
      ContentTypeOptions: { Override: true },
      FrameOptions: { FrameOption: 'DENY', Override: true },
      ReferrerPolicy: { ReferrerPolicy: 'same-origin', Override: true },
      StrictTransportSecurity: {
        AccessControlMaxAgeSec: 31_536_000,
        IncludeSubdomains: true,
        Override: true,
      },
    });
    expect(custom.Items.map(({ Header }: { Header: string }) => Header)).toEqual([
      'Cross-Origin-Opener-Policy',
      'Cross-Origin-Resource-Policy',
      'Permissions-Policy',
    ]);
  });

  it('are deployed after the files that they refer to, which remain for open pages', () => {
    const deployments = ofType(template, 'Custom::CDKBucketDeployment');
    const assets = deployments.find(
      ([, { Properties }]) => Properties.DestinationBucketKeyPrefix === 'assets',
    );
    const pages = deployments.find(([id]) => id !== assets?.[0]);
    expect(deployments).toHaveLength(2);
    expect(assets?.[1].Properties).toMatchObject({
      Prune: false,
      SystemMetadata: { 'cache-control': 'public, max-age=31536000, immutable' },
    });
    expect(pages?.[1].Properties).toMatchObject({
      Prune: true,
      Exclude: ['assets/*'],
      SystemMetadata: { 'cache-control': 'no-cache' },
      DistributionId: { Ref: distributionId },
      DistributionPaths: ['/*'],
    });
    expect(Object(pages?.[1]).DependsOn).toContain(assets?.[0]);
    for (const [, { Properties }] of deployments)
      expect(Properties.DestinationBucketName).toEqual({ Ref: bucketId });
  });

  it('can be created again in another region of the account, where CloudFront is shared', () => {
    for (const [type, name] of [
      ['AWS::CloudFront::Function', 'Name'],
      ['AWS::CloudFront::ResponseHeadersPolicy', 'Name'],
      ['AWS::CloudFront::OriginAccessControl', 'Name'],
    ] as const)
      for (const [id, { Properties }] of all(template, type)) {
        const { ResponseHeadersPolicyConfig, OriginAccessControlConfig } = Object(Properties);
        const named = ResponseHeadersPolicyConfig ?? OriginAccessControlConfig ?? Properties;
        expect(references(Object(named)[name]), id).toEqual(['AWS::Region']);
      }
  });
});

it('the gateway does not depend on the dashboard', () => {
  for (const { stackName, content } of stacksOf())
    if (!stackName.endsWith('-Dashboard')) expect(JSON.stringify(content)).not.toContain('-Dashboard:');
});

it("the function that copies the dashboard's files has no other permissions", () => {
  const [[, role] = []] = ofType(template, 'AWS::IAM::Role').filter(([id]) =>
    id.startsWith('ContentDeployer'),
  );
  const [{ PolicyDocument: document } = { PolicyDocument: {} }] = Object(role?.Properties).Policies;
  const allowed = statementsIn(document).flatMap(({ actions }) => actions);
  expect(new Set(allowed)).toEqual(
    new Set([
      'cloudfront:CreateInvalidation',
      'cloudfront:GetInvalidation',
      'logs:CreateLogStream',
      'logs:PutLogEvents',
      's3:DeleteObject',
      's3:GetBucketTagging',
      's3:GetObject',
      's3:ListBucket',
      's3:PutObject',
    ]),
  );
  template.resourcePropertiesCountIs('AWS::IAM::Policy', Match.objectLike({}), 0);
});
